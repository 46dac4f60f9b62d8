package docset

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan/reference"
)

func TestRunsOfList(t *testing.T) {
	docs := []uint32{0, 1, 2, 9, 63, 64, math.MaxUint32 - 1}
	if r := NewRuns(docs, 4); CountRuns(docs) != 4 || !slices.Equal(r, Runs{{0, 2}, {9, 9}, {63, 64}, {math.MaxUint32 - 1, math.MaxUint32 - 1}}) {
		t.Errorf("%d runs, %+v", CountRuns(docs), r)
	}
}

// clustered draws ascending docIDs in runs of at most longest.
func clustered(longest int) *rapid.Generator[[]uint32] {
	return rapid.Custom(func(t *rapid.T) (docs []uint32) {
		at := uint32(0)
		for range rapid.IntRange(0, 40).Draw(t, "runs") {
			at += rapid.Uint32Range(1, 50).Draw(t, "gap")
			for range rapid.IntRange(1, longest).Draw(t, "length") {
				docs = append(docs, at)
				at++
			}
		}
		return docs
	})
}

// TestAndRuns compares the runs of a conjunction with its docIDs, in parts of the first list.
func TestAndRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := clustered(30).Draw(t, "a"), clustered(30).Draw(t, "b")
		x, y := NewRuns(a, 0), NewRuns(b, 0)
		cut := rapid.IntRange(0, len(x)).Draw(t, "cut")
		var got []uint32
		var both Runs
		for _, part := range []Runs{x[:cut], x[cut:]} {
			both = both[:0]
			n := both.AppendAnd(part, y)
			room := make([]uint32, n+Slack)
			if k := both.Expand(room); k != n {
				t.Fatalf("%d docIDs, counted %d", k, n)
			}
			got = append(got, room[:n]...)
		}
		words := make([]uint64, 100)
		for _, x := range a {
			words[x/64] |= 1 << (x % 64)
		}
		room := make([]uint32, len(a)+Slack)
		if n := Expand(room, words, 0); !slices.Equal(room[:n], a) {
			t.Fatalf("%v from bits, want %v", room[:n], a)
		}
		want := reference.Intersect(a, b)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if n, few := x.CountAnd(y), x.CountFew(y); n != len(want) || few != n {
			t.Fatalf("%d docIDs, %d by few runs, want %d", n, few, len(want))
		}
	})
}

// TestOrRuns adds runs range by range, as a union does. A run may cross several ranges.
func TestOrRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := clustered(150).Draw(t, "docs")
		runs, at := NewRuns(docs, 0), 0
		for base := uint32(0); base < 8192; {
			last := base + 64*rapid.Uint32Range(1, 20).Draw(t, "words") - 1
			acc := make([]uint64, (last-base+1)/64)
			at += runs[at:].Find(base)
			at = runs.Or(acc, at, base, last)
			want := Interval{base, last}.Cut(docs)
			got := make([]uint32, len(want)+Slack)
			if n := Count(acc); n != len(want) || !slices.Equal(got[:Expand(got, acc, base)], want) {
				t.Fatalf("%v from %d to %d: %d docIDs, want %v", docs, base, last, n, want)
			}
			base = last + 1
		}
	})
}

// TestOrRunEnds adds a run that begins or ends beside an end of the range, or beside a word.
func TestOrRunEnds(t *testing.T) {
	const base, last = 128, 447
	places := []uint32{0, 126, 127, 128, 129, 190, 191, 192, 193, 320, 446, 447, 448, 500}
	for i, first := range places {
		for _, end := range places[i:] {
			acc := make([]uint64, (last-base+1)/64)
			r := Runs{{first, end}}
			r.Or(acc, r.Find(base), base, last)
			for x := uint32(base); x <= last; x++ {
				if got, want := acc[(x-base)/64]>>(x%64)&1 == 1, first <= x && x <= end; got != want {
					t.Fatalf("run %d to %d: document %d: %v", first, end, x, got)
				}
			}
		}
	}
}
