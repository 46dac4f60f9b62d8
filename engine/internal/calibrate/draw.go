package calibrate

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// draw returns queries on the lists of x.
func draw(x *lists.Generation) ([]query.Query, error) {
	names, ok := x.Dictionary.(interface{ Term(h plan.Handle) string })
	if !ok {
		return nil, errors.New("queries are missing, and the dictionary cannot name terms to draw some")
	}
	all, err := Draw(x.Source, names.Term)
	qs := make([]query.Query, len(all))
	for i := range qs {
		qs[i].Terms = all[i]
	}
	return qs, err
}

// Draw returns the terms of queries of one to six terms. The logarithms of the lengths of their
// lists are uniform. All calls return the same queries.
func Draw(x *plan.Source, name func(plan.Handle) string) ([][]string, error) {
	if err := x.DescribeAll(); err != nil {
		return nil, err
	}
	var byLength []plan.Handle
	for h, l := range x.Lists {
		if l.Len > 0 {
			byLength = append(byLength, plan.Handle(h))
		}
	}
	if len(byLength) == 0 {
		return nil, errors.New("the index has no postings to draw queries from")
	}
	slices.SortFunc(byLength, func(a, b plan.Handle) int { return plan.ByLength(x, a, b) })
	longest := x.Lists[byLength[len(byLength)-1]].Len
	position := func(length float64) int {
		at, _ := slices.BinarySearchFunc(byLength, length, func(h plan.Handle, want float64) int {
			return cmp.Compare(float64(x.Lists[h].Len), want)
		})
		return min(at, len(byLength)-1)
	}
	r := rand.New(rand.NewPCG(1, 0))
	qs := make([][]string, drawn)
	for i := range qs {
		for range 1 + r.IntN(6) {
			length := math.Exp2(r.Float64() * math.Log2(float64(longest)))
			at := position(length)
			at += r.IntN(1 + position(1.2*length) - at) // a list of about the same length
			qs[i] = append(qs[i], name(byLength[at]))
		}
	}
	return qs, nil
}

const drawn = 2000 // queries
