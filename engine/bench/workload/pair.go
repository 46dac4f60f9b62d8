package workload

import (
	"context"
	"heddle/codec"
	"heddle/engine/plan"
	"slices"
)

// twoLists are plain lists of random docIDs; the shorter one comes first.
type Pair struct {
	Source *plan.Source
	A, B   []uint32
	Want   []uint32 // in both
}

// pairGap is the mean distance of docIDs in the longer list.
const pairGap = 16

// pair draws lists of about two lengths. A third of the shorter one is in both, a
// little more by chance.
func NewPair(ctx context.Context, seed uint64, short, long int) (*Pair, error) {
	docs := uint32(long * pairGap)
	r := NewRandom(seed, StreamGaps, uint64(long))
	b := r.Sample(make([]uint32, 0, long+long/64+64), 0, docs, 1.0/pairGap)
	common := r.Sample(nil, 0, uint32(len(b)), float64(short)/3/float64(len(b)+1))
	for i, at := range common {
		common[i] = b[at]
	}
	a := unite(common, r.Sample(nil, 0, docs, float64(short)*2/3/float64(docs)))
	if len(a) > len(b) {
		a, b = b, a
	}
	src, err := EncodeAll(ctx, docs, [][]uint32{a, b}, codec.DefaultOptions(), Always(codec.Raw))
	return &Pair{src, a, b, Intersect(nil, a, b)}, err
}

// unite merges ascending lists; what is in both comes once.
func unite(a, b []uint32) []uint32 {
	out := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		x := min(a[0], b[0])
		out = append(out, x)
		if a[0] == x {
			a = a[1:]
		}
		if b[0] == x {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// inputs of both lists.
func (p *Pair) Inputs() int { return len(p.A) + len(p.B) }

// intersect appends to dst what is in a and in b. a may share dst's memory: what
// is written has been read.
func Intersect(dst, a, b []uint32) []uint32 {
	for _, x := range a {
		step := 1 // gallop: twice as far each time, then search in between
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
