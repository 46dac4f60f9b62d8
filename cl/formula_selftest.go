package cl

import (
	"context"
	"slices"

	"heddle/engine/plan"
)

// selfTestFormulas evaluates formulas over the lists of the self-test that have
// every step of the kernel. Lists 3i, 3i+1 and 3i+2 have the shapes of the first
// three in another codec.
func (s *Store) selfTestFormulas(ctx context.Context, lists [][]uint32, failed func(string, ...any) error) error {
	list := func(i int) plan.Op { return plan.Op{List: plan.Handle(i % len(lists))} }
	and, or, not, from := plan.Op{Code: plan.OpAnd}, plan.Op{Code: plan.OpOr}, plan.Op{Code: plan.OpAndNot}, plan.Op{Code: plan.OpNotAnd}
	f := plan.MatchBatch{}
	f.Reset()
	for i := 0; i < len(lists); i += 3 {
		a, b, c, d, e := list(i), list(i+1), list(i+2), list(i+4), list(i+8)
		for _, ops := range [][]plan.Op{
			{a, b, or, c, or},
			{c, a, not, b, not},
			{c, a, and, b, d, or, and},
			{a, b, and, c, d, and, or, e, d, not, from},
		} {
			f.AddOps(ops)
		}
	}
	has := make([][]bool, len(lists)) // by list and docID
	for i, l := range lists {
		has[i] = make([]bool, s.src.Docs)
		for _, x := range l {
			has[i][x] = true
		}
	}
	want := make([][]uint32, f.Queries())
	for i := range want {
		want[i] = plainEvaluate(has, f.Expression(i), s.src.Docs)
	}
	var got plan.Results
	for _, a := range []plan.Algorithm{plan.Bits, plan.BS} { // with bitsets of lists and without
		f.CountOnly = a == plan.BS
		if err := s.evaluate(ctx, &f, &got, a); err != nil {
			return err
		}
		for i, want := range want {
			if got.Count(i) != uint64(len(want)) || !f.CountOnly && !slices.Equal(got.Query(i), want) {
				return failed("formula %d under %s: %d documents, expected %d, or others", i, a, got.Count(i), len(want))
			}
		}
	}
	return nil
}

// plainEvaluate looks at every document by itself.
func plainEvaluate(has [][]bool, ops []plan.Op, docs uint32) (out []uint32) {
	var stack [plan.MaxDepth]bool
	for x := range docs {
		n := 0
		for _, op := range ops {
			if op.Code == plan.OpList {
				stack[n] = has[op.List][x]
				n++
				continue
			}
			n--
			switch a, b := stack[n-1], stack[n]; op.Code {
			case plan.OpAnd:
				stack[n-1] = a && b
			case plan.OpOr:
				stack[n-1] = a || b
			case plan.OpAndNot:
				stack[n-1] = a && !b
			case plan.OpNotAnd:
				stack[n-1] = b && !a
			}
		}
		if stack[0] {
			out = append(out, x)
		}
	}
	return out
}
