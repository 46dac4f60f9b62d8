package harness

import (
	"context"
	"slices"
	"strings"
	"testing"

	"heddle/engine/bench/workload"
	"heddle/engine/plan/reference"
)

func TestChecker(t *testing.T) {
	w := smallWorkload(t, workload.Uniform)
	const n = 100
	c, err := newChecker(context.Background(), w, n)
	if err != nil {
		t.Fatal(err)
	}
	right := make([]uint64, n)
	for i := range right {
		right[i] = workload.Digest(plainAnswer(w, i))
	}
	if err := c.Check("first", right[:50]); err != nil {
		t.Fatal(err)
	}
	if err := c.Check("second", right); err != nil {
		t.Fatal(err)
	}
	if want := "verified: 2 runs gave the same answers to all of up to 100 queries, 64 of them the answers of a plain merge"; c.String() != want {
		t.Errorf("%q, want %q", c, want)
	}
	for q := range n {
		wrong := slices.Clone(right)
		wrong[q]++
		if err := c.Check("liar", wrong); err == nil || !strings.Contains(err.Error(), "liar: the answer to query") {
			t.Fatalf("a wrong answer to query %d: %v", q, err)
		}
	}
}

func TestRoaringPeer(t *testing.T) {
	w := smallWorkload(t, workload.Clustered)
	p, err := newRoaringPeer(context.Background(), w, 2)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	got := make([][]uint32, n)
	if err := p.Run(context.Background(), n, func(q int, docs []uint32) { got[q] = slices.Clone(docs) }); err != nil {
		t.Fatal(err)
	}
	for q := range n {
		if !slices.Equal(got[q], plainAnswer(w, q)) {
			t.Fatalf("query %d: %d documents, want %d", q, len(got[q]), len(plainAnswer(w, q)))
		}
	}
	if again := p.answer(len(w.Queries)+3, nil); !slices.Equal(again, got[3]) {
		t.Error("behind the last query does not come the first")
	}
}

// plainAnswer intersects the lists of query i, two at a time.
func plainAnswer(w *workload.Workload, i int) []uint32 {
	lists := w.Sorted(w.Queries[i])
	left := lists[0]
	for _, l := range lists[1:] {
		left = reference.Intersect(left, l)
	}
	return left
}
