package codec

import (
	"fmt"
	"math/bits"
	"sort"
)

const (
	blockBits  = 512            // docIDs in a block of a Bitset
	blockWords = blockBits / 32 // words in a block
	maxBlocks  = 1 << 32 / blockBits
)

// Bits is a view of a Bitset list: one bit a docID, in blocks of 512 bits up to
// the block of the last docID, and for each block the number of docIDs before
// it. The words are Words, then Ranks; an empty list has none.
//
// Bits does not check its words: on words that List.Validate rejects, methods
// give wrong answers but do not panic. A view owns nothing and is safe for
// concurrent use while nobody writes to the words.
type Bits struct {
	Len   uint32
	Words []uint32 // bit x%32 of word x/32 is docID x; 16 words a block
	Ranks []uint32 // one word a block
}

// Bits views the words of a Bitset list. It checks only lengths.
func (l List) Bits() (Bits, error) {
	if l.Codec != Bitset {
		return Bits{}, fmt.Errorf("codec: bits of a %s list", l.Codec)
	}
	n := len(l.Words) / (blockWords + 1)
	if n*(blockWords+1) != len(l.Words) || n > maxBlocks || uint64(l.Len) > uint64(n)*blockBits || l.Len == 0 && n > 0 {
		return Bits{}, corrupt(Bitset, len(l.Words), "%d words for %d docIDs", len(l.Words), l.Len)
	}
	w := n * blockWords
	return Bits{Len: l.Len, Words: l.Words[:w:w], Ranks: l.Words[w:]}, nil
}

// Has tells whether x is in the list.
func (b Bits) Has(x uint32) bool {
	i := int(x / 32)
	return i < len(b.Words) && b.Words[i]>>(x%32)&1 != 0
}

// Rank is the number of docIDs below x.
func (b Bits) Rank(x uint32) uint32 {
	block := int(x / blockBits)
	if block >= len(b.Ranks) {
		return b.Len
	}
	r := b.Ranks[block]
	i := block * blockWords
	for ; i < int(x/32); i++ {
		r += uint32(bits.OnesCount32(b.Words[i]))
	}
	return r + uint32(bits.OnesCount32(b.Words[i]&(1<<(x%32)-1)))
}

// Select returns docID i of the list, counted from 0; i must be below Len.
func (b Bits) Select(i uint32) uint32 {
	block := sort.Search(len(b.Ranks), func(k int) bool { return b.Ranks[k] > i }) - 1
	if block < 0 {
		return 0
	}
	i -= b.Ranks[block]
	for k, w := range b.Words[block*blockWords : (block+1)*blockWords] {
		if n := uint32(bits.OnesCount32(w)); i >= n {
			i -= n
			continue
		}
		for ; i > 0; i-- {
			w &= w - 1
		}
		return uint32(block)*blockBits + uint32(k)*32 + uint32(bits.TrailingZeros32(w))
	}
	return uint32(block)*blockBits + blockBits - 1
}

// validate checks the rank directory against the bits, the number of docIDs, and
// that the last block is not empty.
func (b Bits) validate() error {
	n := uint32(0)
	for block, rank := range b.Ranks {
		if rank != n {
			return corrupt(Bitset, len(b.Words)+block, "rank %d of block %d, %d docIDs before it", rank, block, n)
		}
		for _, w := range b.Words[block*blockWords : (block+1)*blockWords] {
			n += uint32(bits.OnesCount32(w))
		}
		if block == len(b.Ranks)-1 && n == rank {
			return corrupt(Bitset, block*blockWords, "the last block is empty")
		}
	}
	if n != b.Len {
		return corrupt(Bitset, 0, "%d bits for %d docIDs", n, b.Len)
	}
	return nil
}

// decodeAll writes all docIDs to dst, whose length is b.Len.
func (b Bits) decodeAll(dst []uint32) error {
	if err := b.validate(); err != nil {
		return err
	}
	k := 0
	for i, w := range b.Words {
		for ; w != 0; w &= w - 1 {
			dst[k] = uint32(i)*32 + uint32(bits.TrailingZeros32(w))
			k++
		}
	}
	return nil
}

func sizeBitset(docs []uint32) int {
	if len(docs) == 0 {
		return 0
	}
	return (int(docs[len(docs)-1]/blockBits) + 1) * (blockWords + 1)
}

func appendBitset(dst, docs []uint32) []uint32 {
	size := sizeBitset(docs)
	start := len(dst)
	dst = append(dst, make([]uint32, size)...)
	blocks := size / (blockWords + 1)
	words, rank := dst[start:start+blocks*blockWords], dst[start+blocks*blockWords:]
	for _, d := range docs {
		words[d/32] |= 1 << (d % 32)
	}
	n := uint32(0)
	for block := range rank {
		rank[block] = n
		for _, w := range words[block*blockWords : (block+1)*blockWords] {
			n += uint32(bits.OnesCount32(w))
		}
	}
	return dst
}
