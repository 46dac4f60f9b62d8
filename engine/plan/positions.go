package plan

import (
	"math/bits"

	"heddle/codec/positions"
)

// Positions are the positions of terms in documents, for phrases. They are safe for concurrent use.
type Positions struct {
	Values positions.Reader // the occurrences of all lists, list after list
	// Of describes the occurrences of a list. Damage is a panic with a *mapped.Fault.
	Of func(Handle) Occurrences
}

// Occurrences are the positions of all postings of a list, one posting behind the other.
type Occurrences struct {
	First    uint64 // number of the first one in Positions.Values
	Count    uint64 // sum of the frequencies
	Postings uint32
	Ranks    []uint32 // packed numbers of RankBits bits
}

const (
	// RankLen is the number of postings of a rank.
	RankLen = 128
	// MaxRankBits is the most bits of a rank.
	MaxRankBits = 32
)

// RankBits is the number of bits of the ranks of a list. Rank k, from 1 on, is the sum of the frequencies less one of the
// postings before posting k * RankLen. A list without frequencies above 1, or of at most RankLen postings, has no ranks.
func RankBits(postings uint32, count uint64) uint {
	if postings <= RankLen {
		return 0
	}
	return uint(bits.Len64(count - uint64(postings)))
}

// Rank is the number of occurrences before posting k * RankLen, which must be in the list.
func (o *Occurrences) Rank(k uint32) uint64 {
	before := uint64(k) * RankLen
	width := RankBits(o.Postings, o.Count)
	if k == 0 || width == 0 {
		return before
	}
	at := uint64(k-1) * uint64(width)
	w, shift := at/32, at%32
	v := uint64(o.Ranks[w])
	if shift+uint64(width) > 32 {
		v |= uint64(o.Ranks[w+1]) << 32
	}
	return before + v>>shift&(1<<width-1)
}
