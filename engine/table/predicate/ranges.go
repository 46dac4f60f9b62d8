package predicate

import (
	"cmp"
	"math"
	"slices"

	"heddle/engine/plan"
)

// unite gives the codes of sets of ranges in any order, as ranges that ascend and are
// disjoint.
func unite(sets ...[]plan.CodeRange) []plan.CodeRange {
	r := slices.Concat(sets...)
	slices.SortFunc(r, func(a, b plan.CodeRange) int { return cmp.Compare(a.Lo, b.Lo) })
	out := r[:0]
	for _, x := range r {
		if n := len(out); n > 0 && x.Lo <= out[n-1].Hi {
			out[n-1].Hi = max(out[n-1].Hi, x.Hi)
			continue
		}
		out = append(out, x)
	}
	return out
}

// intersect gives the codes that are in all sets, each ascending and disjoint: the codes
// in no complement. Intersecting one set after another would take time that grows with
// the square of their number.
func intersect(sets ...[]plan.CodeRange) []plan.CodeRange {
	others := make([][]plan.CodeRange, len(sets))
	for i, s := range sets {
		others[i] = complement(s)
	}
	return complement(unite(others...))
}

// complement gives the codes that are not in r, which ascends and is disjoint.
func complement(r []plan.CodeRange) (out []plan.CodeRange) {
	from := uint64(0)
	for _, x := range r {
		if from < x.Lo {
			out = append(out, plan.CodeRange{Lo: from, Hi: x.Lo - 1})
		}
		if x.Hi == math.MaxUint64 {
			return out
		}
		from = x.Hi + 1
	}
	return append(out, plan.CodeRange{Lo: from, Hi: math.MaxUint64})
}
