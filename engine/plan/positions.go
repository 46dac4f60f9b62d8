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
	// All verifies Values, and returns the ranks of all lists (Occurrences.RanksAt). A device that keeps all positions calls it.
	All func() (ranks []uint32, err error)
}

// Occurrences are the positions of all postings of a list, one posting behind the other.
type Occurrences struct {
	First    uint64 // number of the first one in Positions.Values
	Count    uint64 // sum of the frequencies
	Postings uint32
	Ranks    []uint32 // packed numbers of RankBits bits
	RanksAt  uint64   // first word of Ranks among the ranks of all lists
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

// AppendRanks appends the ranks of a list with these frequencies, whose sum is count. RankBits must be at most MaxRankBits.
func AppendRanks(dst, freqs []uint32, count uint64) []uint32 {
	width := RankBits(uint32(len(freqs)), count)
	if width == 0 {
		return dst
	}
	sum, acc, have := uint64(0), uint64(0), uint(0)
	for i, f := range freqs {
		if i > 0 && i%RankLen == 0 {
			acc |= sum << have
			if have += width; have >= 32 {
				dst = append(dst, uint32(acc))
				acc, have = acc>>32, have-32
			}
		}
		sum += uint64(f - 1)
	}
	if have > 0 {
		dst = append(dst, uint32(acc))
	}
	return dst
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

// SetPositions makes positions of all lists, by their frequencies and their values: for each posting the first position, then the distance
// of each further one from the position before, less one. Like Append it is for small indices.
func (s *Source) SetPositions(freqs, values [][]uint32) {
	var w positions.Writer
	var v positions.Reader
	var ranks []uint32
	of := make([]Occurrences, len(freqs))
	for h, f := range freqs {
		o := Occurrences{First: w.Count(), Count: uint64(len(values[h])), Postings: uint32(len(f)), RanksAt: uint64(len(ranks))}
		ranks = AppendRanks(ranks, f, o.Count)
		o.Ranks = ranks[o.RanksAt:]
		v.Words, v.Directory = w.Append(v.Words, v.Directory, values[h])
		of[h] = o
	}
	v.Words, v.Directory = w.Finish(v.Words, v.Directory)
	v.Count = w.Count()
	s.Positions = &Positions{Values: v, Of: func(h Handle) Occurrences { return of[h] }, All: func() ([]uint32, error) { return ranks, nil }}
}
