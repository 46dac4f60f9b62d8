package bench

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

func TestChecker(t *testing.T) {
	w := workload(t, Uniform)
	const n = 100
	c, err := newChecker(context.Background(), w, n)
	if err != nil {
		t.Fatal(err)
	}
	right := make([]uint64, n)
	for i := range right {
		right[i] = digest(answer(w, i))
	}
	if err := c.check("first", right[:50]); err != nil {
		t.Fatal(err)
	}
	if err := c.check("second", right); err != nil {
		t.Fatal(err)
	}
	if want := "verified: 2 runs gave the same answers to all of up to 100 queries, 64 of them those of a plain merge"; c.String() != want {
		t.Errorf("%q, want %q", c, want)
	}
	for q := range n {
		wrong := slices.Clone(right)
		wrong[q]++
		if err := c.check("liar", wrong); err == nil || !strings.Contains(err.Error(), "liar: the answer to query") {
			t.Fatalf("a wrong answer to query %d: %v", q, err)
		}
	}
}

func TestDigest(t *testing.T) {
	seen := make(map[uint64][]uint32)
	for _, docs := range [][]uint32{nil, {0}, {1}, {0, 1}, {1, 2}, {1, 2, 3}, {0, 0}, {2, 1}, {math.MaxUint32}} {
		d := digest(docs)
		if other, ok := seen[d]; ok {
			t.Errorf("%v and %v have one digest", docs, other)
		}
		seen[d] = docs
	}
	r := plan.Results{Offsets: []uint64{0, 2, 2, 3}, Docs: []uint32{4, 5, 6}}
	got := make([]uint64, 3)
	digests(got, &r)
	if want := []uint64{digest([]uint32{4, 5}), digest(nil), digest([]uint32{6})}; !slices.Equal(got, want) {
		t.Errorf("digests %x, want %x", got, want)
	}
}

func TestRoaringPeer(t *testing.T) {
	w := workload(t, Clustered)
	p, err := newRoaringPeer(context.Background(), w, 2)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	got := make([][]uint32, n)
	if err := p.run(context.Background(), n, func(q int, docs []uint32) { got[q] = slices.Clone(docs) }); err != nil {
		t.Fatal(err)
	}
	for q := range n {
		if !slices.Equal(got[q], answer(w, q)) {
			t.Fatalf("query %d: %d documents, want %d", q, len(got[q]), len(answer(w, q)))
		}
	}
	if again := p.answer(len(w.Queries)+3, nil); !slices.Equal(again, got[3]) {
		t.Error("behind the last query does not come the first")
	}
}

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want summary
	}{
		{nil, summary{}},
		{[]float64{3}, summary{3, 3, 3, 1}},
		{[]float64{3, 1}, summary{2, 1, 3, 2}},
		{[]float64{9, 1, 2}, summary{2, 1, 9, 3}},
	} {
		if got := summarize(c.in); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.in, got, c.want)
		}
	}
}

func TestInTurns(t *testing.T) {
	var order []int
	turns := make([]turn, 3)
	for i := range turns {
		turns[i] = turn{10, func() error { order = append(order, i); return nil }}
	}
	rates, err := inTurns(turns, 2)
	if err != nil || !slices.Equal(order, []int{0, 1, 2, 0, 1, 2}) || len(rates) != 3 || rates[0].Runs != 2 {
		t.Errorf("%v, %v, %v", order, rates, err)
	}
	turns[1].run = func() error { return context.Canceled }
	if _, err := inTurns(turns, 1); err != context.Canceled {
		t.Errorf("a failing turn: %v", err)
	}
}

func TestHostCopyPeak(t *testing.T) {
	if got := hostCopyPeak(2, 1<<20); got < 1e8 || got > 1e13 {
		t.Errorf("%.3g bytes a second", got)
	}
}

func TestEvenLists(t *testing.T) {
	lists, err := evenLists{3, 1000}.draw(context.Background(), 1)
	if err != nil || len(lists) != 3 {
		t.Fatal(len(lists), err)
	}
	for h, docs := range lists {
		if len(docs) != 1000 {
			t.Fatal(len(docs))
		}
		sum := 0
		for j := 1; j < len(docs); j++ {
			gap := docs[j] - docs[j-1]
			if gap < 1 || gap > 256 {
				t.Fatalf("a gap of %d", gap)
			}
			sum += int(gap)
		}
		if mean := sum / 999; mean < 115 || mean > 142 {
			t.Errorf("mean gap %d", mean)
		}
		src, err := encodeAll(context.Background(), above(lists), lists, codec.DefaultOptions(), as(codec.ParaPFor))
		if err != nil {
			t.Fatal(err)
		}
		if err := src.Validate(); err != nil {
			t.Fatal(err)
		}
		// Eight bits a value, and little else.
		if words := src.Lists[h].Words; words < 250 || words > 250+4*8 {
			t.Errorf("list %d takes %d words", h, words)
		}
	}
}
