package lookup

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/work"
)

func TestSieve(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	const docs = 1 << 20
	list := hosttest.Uniform(r, 4000, docs)
	sieve := newSieve(list, 1024) // 8.2 bits a docID
	dst := make([]uint32, docs)
	if n := filterSieve(dst, list, sieve); !slices.Equal(dst[:n], list) {
		t.Fatal("the sieve lost a docID of its list")
	}
	others := hosttest.Uniform(r, 10_000, docs)
	if n := filterSieve(dst, others, sieve); n > 1500 {
		t.Errorf("%d of 10000 candidates pass a sieve that one bit in eight of is set", n)
	}
}

func TestScattered(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	want := map[string]bool{"uniform": false, "every-kth": false, "clustered": true, "dense-run": false}
	for _, g := range codectest.Generators() {
		if c, ok := want[g.Name]; ok {
			delete(want, g.Name)
			if got := scattered(g.Gen(r, 5000, 1<<20)); got != c {
				t.Errorf("%s: scattered %t", g.Name, got)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("codectest has no more %v", want)
	}
}

// TestCommon: heads never rule a common docID out, and tell most short lists apart.
func TestCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	apart := 0
	for range 1000 {
		a, b := hosttest.Uniform(r, 3, 1<<30), hosttest.Uniform(r, 3, 1<<30)
		with := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(a), b[1]))))
		src := hosttest.Source(t, 1<<30, []codec.ID{codec.Raw}, a, b, with, []uint32{b[1]})
		aux := New(src, work.NewBudget(0, 0))
		if both := aux.Common([]plan.Handle{0, 1}); both != docset.Everywhere {
			t.Fatalf("lists that are not prepared: %v", both)
		}
		hosttest.PrepareAll(t, src, aux.Prepare)
		if both := aux.Common([]plan.Handle{0, 1}); both.First > both.Last {
			apart++
		}
		if both := aux.Common([]plan.Handle{1, 2}); both.First > b[1] || both.Last < b[1] {
			t.Fatalf("%v and %v: %v", b, with, both)
		}
		if runs, few := aux.RunsOf(3); !few || !slices.Equal(runs, docset.Runs{{First: b[1], Last: b[1]}}) {
			t.Fatalf("%d as runs: %v, few %t", b[1], runs, few)
		}
	}
	if apart < 900 {
		t.Errorf("heads tell only %d of 1000 pairs of short lists apart", apart)
	}
}

// TestAutoTables: the parts of a prepared list depend on its density and codec.
func TestAutoTables(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	const docs = 1 << 20
	for _, c := range []struct {
		id                codec.ID
		n                 int
		bits, sieve, docs bool
	}{
		{codec.Raw, 128, false, false, true},
		{codec.Raw, 129, false, true, true},
		{codec.ParaPFor, 128, false, false, true},
		{codec.ParaPFor, 8000, false, true, true},
		{codec.Raw, 9000, true, false, true},
		{codec.ParaPFor, 9000, true, false, true},
		{codec.ParaPFor, docs / 8, true, false, false},
		{codec.Bitset, 100, true, false, false},
	} {
		src := hosttest.Source(t, docs, []codec.ID{c.id}, hosttest.Uniform(r, c.n, docs))
		aux := New(src, work.NewBudget(0, 0))
		table, err := aux.Prepare(0)
		if err != nil {
			t.Fatal(err)
		}
		if (table.Bits != nil) != c.bits || (table.sieve != nil) != c.sieve || (table.Docs != nil) != c.docs {
			t.Errorf("%d docIDs as %v: bits %t, sieve %t, docs %t", c.n, c.id, table.Bits != nil, table.sieve != nil, table.Docs != nil)
		}
		if c.id == codec.Raw && table.Docs != nil && &table.Docs[0] != &src.Words[0] {
			t.Error("a raw list was copied")
		}
		if again, _ := aux.Prepare(plan.Handle(0)); again != table {
			t.Error("the table was built twice")
		}
	}
}

// TestRanks: the ranks of prepared bits lead to the index of a docID.
func TestRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	const docs = 1<<16 + 100
	for _, id := range []codec.ID{codec.ParaPFor, codec.Bitset} {
		list := hosttest.Uniform(r, docs/10, docs)
		src := hosttest.Source(t, docs, []codec.ID{id}, list)
		src.Freqs = []uint32{0} // only its presence matters
		table, err := New(src, work.NewBudget(0, 0)).Prepare(0)
		if err != nil {
			t.Fatal(err)
		}
		bits := codec.Bits{Len: uint32(len(list)), Words: table.Bits, Ranks: table.Ranks}
		for i, x := range list {
			if !bits.Has(x) || bits.Rank(x) != uint32(i) {
				t.Fatalf("%v: docID %d has rank %d, want %d", id, x, bits.Rank(x), i)
			}
		}
	}
}

// TestFilterFew compares the search of a list for a few docIDs with its docIDs, in every form of a list.
func TestFilterFew(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	const docs = 1 << 16
	for _, n := range []int{1, 5, 100, 129, 400, 4000, docs / 2} {
		list := hosttest.Uniform(r, n, docs)
		src := hosttest.Source(t, docs, []codec.ID{codec.Raw}, list)
		table, err := New(src, work.NewBudget(0, 0)).Prepare(0)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 40 {
			few := hosttest.Uniform(r, k, docs)
			if k > 0 {
				few[k/2] = list[r.IntN(n)]
			}
			slices.Sort(few)
			few = slices.Compact(few)
			want := reference.Intersect(few, list)
			dst := make([]uint32, len(few))
			if got := dst[:table.FilterFew(dst, few)]; !slices.Equal(got, want) {
				t.Fatalf("%v in a list of %d docIDs: %v, want %v", few, n, got, want)
			}
			if got := few[:table.FilterFew(few, few)]; !slices.Equal(got, want) {
				t.Fatalf("in place, in a list of %d docIDs: %v, want %v", n, got, want)
			}
		}
	}
}

// TestClusteredWords: only clustered lists have words.
func TestClusteredWords(t *testing.T) {
	const docs = 1 << 20
	r := rand.New(rand.NewPCG(9, 3))
	var run []uint32
	for x := uint32(1000); x < 3000; x++ {
		run = append(run, x)
	}
	src := hosttest.Source(t, docs, []codec.ID{codec.Raw}, run, hosttest.Uniform(r, 4000, docs), hosttest.Uniform(r, 30_000, docs))
	aux := New(src, work.NewBudget(0, 0))
	for h, want := range []int{len(run)/64 + 2, 0, 0} {
		table, err := aux.Prepare(plan.Handle(h))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(table.Words.Index); got > want || (got == 0) != (want == 0) {
			t.Errorf("list %d has %d words", h, got)
		}
	}
}
