package limit

import (
	"context"
	"errors"
	"testing"
	"time"

	"heddle/engine/internal/schedule"
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
	if want := (Limits{3, 1 << 16, 1 << 16, 1 << 12, 1 << 22, 1 << 24, 1 << 10}); l != want {
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

// TestUntil: a query ends at its own deadline and at the deadline of its context with the same error, and with the
// error of a context that is cancelled.
func TestUntil(t *testing.T) {
	past, pastEnd := context.WithDeadline(t.Context(), time.Now().Add(-time.Hour))
	defer pastEnd()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		until Until
		want  error
	}{
		"zero":        {Until{}, nil},
		"open":        {Until{t.Context(), time.Now().Add(time.Hour)}, nil},
		"deadline":    {Until{t.Context(), time.Now().Add(-time.Hour)}, schedule.ErrDeadline},
		"just now":    {Until{t.Context(), time.Now().Add(-time.Nanosecond)}, schedule.ErrDeadline},
		"no context":  {Until{nil, time.Now().Add(-time.Hour)}, schedule.ErrDeadline},
		"of context":  {Until{past, time.Time{}}, schedule.ErrDeadline},
		"cancelled":   {Until{cancelled, time.Now().Add(-time.Hour)}, context.Canceled},
		"no deadline": {Until{t.Context(), time.Time{}}, nil},
	} {
		if err := test.until.Err(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}
