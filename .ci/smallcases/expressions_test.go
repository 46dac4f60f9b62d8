package smallcases

import (
	"slices"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// all are the names of lists, in a fixed order.
var all = []string{"few", "spread", "jumps", "dense", "tiles"}

// expressions evaluates boolean expressions that have every step of the kernel:
// joins of lists with docIDs and with bits in each way, of sets in each way, and
// an operand that goes first because it is the heavier one. With lists of bits among
// the codecs, the second one, both rounds together have operands of each kind; without
// them one round has.
func expressions(t *testing.T, store plan.Store, src *plan.Source, handles map[string][]plan.Handle, rounds int) {
	list := func(name string, i int) plan.Expr {
		return plan.Expr{Op: plan.OpList, List: handles[name][i%len(handles[name])]}
	}
	node := func(op plan.OpCode, args ...plan.Expr) plan.Expr { return plan.Expr{Op: op, Args: args} }
	plain, err := reference.Decode(src)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rounds {
		few, spread, jumps, dense, tiles := list(all[0], i), list(all[1], i+1), list(all[2], i+2), list(all[3], i), list(all[4], i+1)
		f := plan.MatchBatch{CountOnly: i == 1}
		expressions := []plan.Expr{
			node(plan.OpOr, few, spread, dense),
			node(plan.OpAndNot, dense, spread, tiles),
			node(plan.OpAndNot, tiles, few),
			node(plan.OpAnd, dense, tiles, node(plan.OpOr, few, jumps)),
			node(plan.OpOr, node(plan.OpAndNot, tiles, node(plan.OpAnd, spread, node(plan.OpOr, jumps, few))), node(plan.OpAnd, few, dense)),
		}
		for _, e := range expressions {
			if err := f.AddExpr(src, e); err != nil {
				t.Fatal(err)
			}
		}
		var got plan.Results
		if err := store.Match(t.Context(), &f, &got); err != nil {
			t.Fatal(err)
		}
		for k, e := range expressions {
			want := reference.Tree(plain.Docs, e)
			if got.Count(k) != uint64(len(want)) || !f.CountOnly && !slices.Equal(got.Query(k), want) {
				t.Errorf("expression %d of lists from %d on: %d documents, want %d", k, i, got.Count(k), len(want))
			}
		}
		if st := got.Stats; st.Probe <= 0 || !f.CountOnly && st.Compact <= 0 {
			t.Errorf("a kernel took no time: %+v", st)
		}
	}
}
