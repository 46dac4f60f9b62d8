package predicate

import (
	"cmp"
	"math"
	"slices"

	"heddle/engine/plan"
)

// unite gives the codes of ranges in any order, as ranges that ascend and are disjoint.
func unite(r []plan.CodeRange) []plan.CodeRange {
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

// intersect gives the codes that are in a and in b, both ascending and disjoint.
func intersect(a, b []plan.CodeRange) (out []plan.CodeRange) {
	for len(a) > 0 && len(b) > 0 {
		if lo, hi := max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi); lo <= hi {
			out = append(out, plan.CodeRange{Lo: lo, Hi: hi})
		}
		if a[0].Hi < b[0].Hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
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
