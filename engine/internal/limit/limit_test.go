package limit

import (
	"errors"
	"testing"

	"heddle/engine/plan"
)

type tree struct{ args []tree }

func args(t *tree) []tree { return t.args }

// TestCheckTree has trees at the limits and above, one of them too deep for recursion, and one
// of few nodes that are reached on many ways.
func TestCheckTree(t *testing.T) {
	chain := func(depth int) *tree {
		top := &tree{}
		for range depth - 1 {
			top = &tree{[]tree{*top}}
		}
		return top
	}
	wide := func(nodes int) *tree {
		top := &tree{}
		for range nodes - 1 {
			top.args = append(top.args, tree{})
		}
		return top
	}
	twice := &tree{}
	for range 60 {
		twice = &tree{[]tree{*twice, *twice}}
	}
	l := &Limits{Nodes: 1000, Depth: 100}
	for name, test := range map[string]struct {
		root *tree
		want string
	}{
		"leaf": {wide(1), ""}, "deep": {chain(100), ""}, "deeper": {chain(101), "Depth"}, "millions": {chain(1_000_000), "Depth"},
		"wide": {wide(1000), ""}, "wider": {wide(1001), "Nodes"}, "shared": {twice, "Nodes"},
	} {
		err := CheckTree(l, test.root, args)
		e, ok := errors.AsType[*Error](err)
		if ok != (test.want != "") || ok && (e.Name != test.want || !errors.Is(err, plan.ErrTooLarge)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestSizes(t *testing.T) {
	l := Limits{Text: 3}
	l.EnsureDefaults()
	if want := (Limits{3, 1 << 16, 1 << 16, 1 << 12, 1 << 22, 1 << 24}); l != want {
		t.Errorf("%+v, want %+v", l, want)
	}
	if err := l.CheckText("abc"); err != nil {
		t.Error(err)
	}
	if err := l.CheckText("abcd"); err == nil || err.Error() != "more than 3 bytes of text: limit Text" {
		t.Error(err)
	}
	if err := l.CheckTerms(1<<16 + 1); err == nil || err.Error() != "more than 65536 terms: limit Terms" {
		t.Error(err)
	}
}
