package workload

import (
	"context"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// Pair is two plain lists of random docIDs. A is the shorter one.
type Pair struct {
	Source *plan.Source
	A, B   []uint32
	Want   []uint32 // docIDs in both
}

// pairGap is the mean distance of docIDs in the longer list.
const pairGap = 16

// NewPair draws two lists of about the given lengths. A third of the shorter list, and
// a few docIDs more by chance, also occur in the longer one.
func NewPair(ctx context.Context, seed uint64, short, long int) (*Pair, error) {
	docs := uint32(long * pairGap)
	r := NewRandom(seed, StreamGaps, uint64(long))
	b := r.Sample(make([]uint32, 0, long+long/64+64), 0, docs, 1.0/pairGap)
	common := r.Sample(nil, 0, uint32(len(b)), float64(short)/3/float64(len(b)+1))
	for i, at := range common {
		common[i] = b[at]
	}
	a := reference.Union(common, r.Sample(nil, 0, docs, float64(short)*2/3/float64(docs)))
	if len(a) > len(b) {
		a, b = b, a
	}
	src, err := EncodeAll(ctx, docs, [][]uint32{a, b}, codec.DefaultOptions(), Always(codec.Raw))
	return &Pair{src, a, b, reference.Intersect(a, b)}, err
}

// Inputs is the length of both lists together.
func (p *Pair) Inputs() int { return len(p.A) + len(p.B) }

// Intersect appends the docIDs of both lists to dst. dst may use the memory of a,
// because it never grows past the part of a that has been read.
func Intersect(dst, a, b []uint32) []uint32 {
	for _, x := range a {
		step := 1 // gallop: double the step, then search in between
		for step < len(b) && b[step] < x {
			step *= 2
		}
		lo := step / 2
		i, found := slices.BinarySearch(b[min(lo, len(b)):min(step+1, len(b))], x)
		b = b[min(lo, len(b))+i:]
		if found {
			dst = append(dst, x)
		}
		if len(b) == 0 {
			break
		}
	}
	return dst
}
