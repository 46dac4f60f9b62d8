package codec

import (
	"fmt"
	"math/bits"
)

// BlockWords is the number of words in a block of Bits.
const BlockWords = 16

const (
	blockBits = 32 * BlockWords // docIDs in a block of Bits
	maxBlocks = 1 << 32 / blockBits
)

// Bits is a view of a Bitset list: one bit a docID in blocks of 512 bits, up to the
// block of the last docID, and a rank for each block, the number of docIDs before
// it. The words are Words, then Ranks. An empty list has no words.
//
// Bits does not check its words. On words that List.Validate rejects, methods return
// wrong answers but do not panic. A view shares the memory of the words and is safe
// for concurrent use while the words do not change.
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
	n := len(l.Words) / (BlockWords + 1)
	if n*(BlockWords+1) != len(l.Words) || n > maxBlocks || uint64(l.Len) > uint64(n)*blockBits || l.Len == 0 && n > 0 {
		return Bits{}, corrupt(Bitset, len(l.Words), "%d words for %d docIDs", len(l.Words), l.Len)
	}
	w := n * BlockWords
	return Bits{Len: l.Len, Words: l.Words[:w:w], Ranks: l.Words[w:]}, nil
}

// Has tells whether x is in the list.
func (b Bits) Has(x uint32) bool {
	i := int(x / 32)
	return i < len(b.Words) && b.Words[i]>>(x%32)&1 != 0
}

// Word returns the bits of docIDs from 64 i on; 0 behind the end.
func (b Bits) Word(i uint32) uint64 {
	if at := 2 * int(i); at+1 < len(b.Words) {
		return uint64(b.Words[at]) | uint64(b.Words[at+1])<<32
	}
	return 0
}

// Rank returns the number of docIDs below x.
func (b Bits) Rank(x uint32) uint32 {
	k := int(x / blockBits)
	if k >= len(b.Ranks) {
		return b.Len
	}
	n := b.Ranks[k]
	block := b.block(k)
	i := int(x / 64 % (BlockWords / 2))
	for j := range i {
		n += uint32(bits.OnesCount64(block.word(j)))
	}
	return n + uint32(bits.OnesCount64(block.word(i)&(1<<(x%64)-1)))
}

// RankAll sets dst to the ranks of ascending docs, which are in the list. It counts no bit twice.
func (b Bits) RankAll(dst, docs []uint32) {
	at, n := -1, uint32(0) // a word of 64 bits, and its rank
	for i, x := range docs {
		word := int(x / 64)
		if k := word / (BlockWords / 2); k > at/(BlockWords/2) || at < 0 {
			at, n = word&^(BlockWords/2-1), b.Ranks[k]
		}
		block := b.block(word / (BlockWords / 2))
		for ; at < word; at++ {
			n += uint32(bits.OnesCount64(block.word(at % (BlockWords / 2))))
		}
		dst[i] = n + uint32(bits.OnesCount64(block.word(word%(BlockWords/2))&(1<<(x%64)-1)))
	}
}

// Select returns docID i of the list, counted from 0. It panics if i is not
// below Len.
func (b Bits) Select(i uint32) uint32 {
	if i >= b.Len {
		panic("codec: Select: index out of range")
	}
	// The last block that starts at or before docID i; the first starts at 0.
	lo, hi := 0, len(b.Ranks)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); b.Ranks[mid] <= i {
			lo = mid
		} else {
			hi = mid
		}
	}
	block := b.block(lo)
	i -= b.Ranks[lo]
	x := uint32(lo) * blockBits
	for j := range BlockWords / 2 {
		w := block.word(j)
		if n := uint32(bits.OnesCount64(w)); i >= n {
			i -= n
			continue
		}
		for ; i > 0; i-- {
			w &= w - 1
		}
		return x + uint32(j)*64 + uint32(bits.TrailingZeros64(w))
	}
	return x // Ranks are wrong
}

// bitBlock is 512 bits, read as eight words of 64.
type bitBlock [BlockWords]uint32

func (b Bits) block(k int) *bitBlock { return (*bitBlock)(b.Words[k*BlockWords:]) }

func (b *bitBlock) word(i int) uint64 { return uint64(b[2*i]) | uint64(b[2*i+1])<<32 }

func (b *bitBlock) count() (n int) {
	for i := range BlockWords / 2 {
		n += bits.OnesCount64(b.word(i))
	}
	return n
}

// decode writes the docIDs of block k to dst, whose length is the difference of the
// ranks. It checks that the block has as many bits, that the first rank is 0, and
// that each rank is the rank before plus the bits of that block, up to Len.
func (b Bits) decode(dst []uint32, k int) error {
	block, rank, end := b.block(k), int(b.Ranks[k]), k+1 == len(b.Ranks)
	count := block.count()
	switch {
	case k == 0 && rank != 0:
		return corrupt(Bitset, len(b.Words), "the first block has rank %d", rank)
	case rank+count > int(b.Len):
		return corrupt(Bitset, k*BlockWords, "more bits than the %d docIDs of the list", b.Len)
	case end && count == 0:
		return corrupt(Bitset, k*BlockWords, "the last block is empty")
	case end && rank+count != int(b.Len):
		return corrupt(Bitset, len(b.Words)+k, "%d bits for %d docIDs", rank+count, b.Len)
	case !end && rank+count != int(b.Ranks[k+1]):
		return corrupt(Bitset, len(b.Words)+k+1, "block %d has rank %d after %d docIDs", k+1, b.Ranks[k+1], rank+count)
	}
	n := 0
	for i := range BlockWords / 2 {
		x := uint32(k)*blockBits + uint32(i)*64
		for w := block.word(i); w != 0; w &= w - 1 {
			dst[n] = x + uint32(bits.TrailingZeros64(w))
			n++
		}
	}
	return nil
}

func sizeBitset(docs []uint32) int {
	if len(docs) == 0 {
		return 0
	}
	return (int(docs[len(docs)-1]/blockBits) + 1) * (BlockWords + 1)
}

func appendBitset(dst, docs []uint32) []uint32 {
	size := sizeBitset(docs)
	start := len(dst)
	dst = appendZeros(dst, size)
	blocks := size / (BlockWords + 1)
	words := dst[start : start+blocks*BlockWords]
	for _, d := range docs {
		words[d/32] |= 1 << (d % 32)
	}
	return AppendRanks(dst[:start+len(words)], words)
}

// AppendRanks appends the Ranks of Bits with the given words, whole blocks, to dst.
func AppendRanks(dst, words []uint32) []uint32 {
	n := 0
	for ; len(words) > 0; words = words[BlockWords:] {
		dst = append(dst, uint32(n))
		n += (*bitBlock)(words).count()
	}
	return dst
}
