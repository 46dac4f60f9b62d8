package multivalue

import (
	"math/bits"
	"sort"
)

// blockWords is the number of words of a block of a counted bitset.
const blockWords = 8

// counted is a bitset that counts and finds its ones.
type counted struct {
	set    []uint64
	before []uint32 // ones before each block, and all
}

func count(set []uint64) counted {
	c := counted{set: set, before: make([]uint32, 1, len(set)/blockWords+2)}
	n := uint32(0)
	for i, w := range set {
		n += uint32(bits.OnesCount64(w))
		if i%blockWords == blockWords-1 || i == len(set)-1 {
			c.before = append(c.before, n)
		}
	}
	return c
}

func (c *counted) bytes() int { return 8*len(c.set) + 4*len(c.before) }

// ones is the number of all ones.
func (c *counted) ones() uint32 { return c.before[len(c.before)-1] }

// rank is the number of ones before a place.
func (c *counted) rank(at uint32) uint32 {
	word := int(at / 64)
	n := c.before[word/blockWords]
	for _, w := range c.set[word/blockWords*blockWords : word] {
		n += uint32(bits.OnesCount64(w))
	}
	return n + uint32(bits.OnesCount64(c.set[word]&(1<<(at%64)-1)))
}

// find returns the place of one bit number n, counted from 0. The set must have more than n ones.
func (c *counted) find(n uint32) uint32 {
	block := sort.Search(len(c.before)-1, func(i int) bool { return c.before[i+1] > n })
	x := cursorAt(c.set, block*blockWords, int(c.before[block]))
	return uint32(x.seek(int(n)))
}
