package query

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
)

// documents evaluates a set over a universe of four documents, where list i is the documents with bit i.
func documents(s set) (docs [16]bool) {
	var in func(e plan.Expr, d int) bool
	in = func(e plan.Expr, d int) bool {
		has := func(a plan.Expr) bool { return in(a, d) }
		switch e.Op {
		case plan.OpList:
			return d>>e.List&1 == 1
		case plan.OpAnd:
			return len(e.Args) > 0 && !slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return !has(a) })
		case plan.OpAndNot:
			return has(e.Args[0]) && !slices.ContainsFunc(e.Args[1:], has)
		}
		return slices.ContainsFunc(e.Args, has)
	}
	for d := range docs {
		docs[d] = in(s.Expr, d) != s.not
	}
	return docs
}

// TestSets compares and and or of sets and complements with the documents in them.
func TestSets(t *testing.T) {
	one := rapid.Custom(func(t *rapid.T) set {
		if rapid.IntRange(0, 5).Draw(t, "all") == 0 {
			return everySet()
		}
		return set{plan.Expr{List: plan.Handle(rapid.IntRange(0, 3).Draw(t, "list"))}, rapid.Bool().Draw(t, "not")}
	})
	rapid.Check(t, func(t *rapid.T) {
		all, without := rapid.SliceOfN(one, 1, 4).Draw(t, "all"), rapid.SliceOfN(one, 0, 3).Draw(t, "without")
		both, any := documents(and(all, without)), documents(or(all))
		for d := range both {
			has := func(s set) bool { return documents(s)[d] }
			if want := !slices.ContainsFunc(all, func(s set) bool { return !has(s) }) && !slices.ContainsFunc(without, has); both[d] != want {
				t.Fatalf("and: document %04b: %v", d, both[d])
			}
			if want := slices.ContainsFunc(all, has); any[d] != want {
				t.Fatalf("or: document %04b: %v", d, any[d])
			}
		}
	})
}

// TestComplete compares the rest of a universe, or of the permitted documents, with a scan.
func TestComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		universe := rapid.Uint32Range(0, 200).Draw(t, "universe")
		var docs, want []uint32
		permitted := make([]uint64, plan.FilterWords(universe))
		filtered := rapid.Bool().Draw(t, "filtered")
		for d := range universe {
			if filtered && rapid.Bool().Draw(t, "out") {
				continue
			}
			permitted[d/64] |= 1 << (d % 64)
			if rapid.Bool().Draw(t, "has") {
				docs = append(docs, d)
			} else {
				want = append(want, d)
			}
		}
		if !filtered {
			permitted = nil
		}
		got := complete(docs, universe, permitted)
		if !slices.Equal(got, want) || got == nil {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
