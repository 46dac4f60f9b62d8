package match

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/work"
)

// all reads a union to its end and checks every chunk.
func (u *union) all(t rapid.TB) (docs []uint32, chunks int) {
	before := -1
	for {
		c, ok, err := u.next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return docs, chunks
		}
		if int(c.base) <= before || c.base%chunkDocs != 0 || (c.docs == nil) == (c.bits == nil) {
			t.Fatalf("chunk at %d behind %d: %d docs, %d words", c.base, before, len(c.docs), len(c.bits))
		}
		before = int(c.base)
		n := len(docs)
		docs = c.appendTo(docs)
		if len(docs)-n != c.count() {
			t.Fatalf("%d docIDs in a chunk that counts %d", len(docs)-n, c.count())
		}
		chunks++
	}
}

func TestUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		universe := rapid.SampledFrom([]uint32{1, 100, 5000, chunkDocs, chunkDocs + 1, 300_000, 1 << 24, math.MaxUint32}).Draw(t, "universe")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		src := &plan.Source{Docs: universe}
		var handles []plan.Handle
		var want []uint32
		lists := rapid.IntRange(0, 12).Draw(t, "lists")
		for i := range lists {
			g := rapid.SampledFrom(codectest.Generators()).Draw(t, "kind")
			docs := g.Gen(r, rapid.IntRange(0, 6000).Draw(t, "length"), uint64(universe))
			id := rapid.SampledFrom(codec.IDs()).Draw(t, "codec")
			if id == codec.Bitset && len(docs) > 0 && docs[len(docs)-1] > 1<<24 {
				id = codec.Raw
			}
			if _, err := src.Append(id, docs, codec.DefaultOptions()); err != nil {
				t.Fatal(err)
			}
			handles = append(handles, uint32(i))
			want = append(want, docs...)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		aux := lookup.New(src, work.NewBudget(rapid.SampledFrom([]uint64{0, 30_000}).Draw(t, "limit"), 0))
		u := new(union)
		for _, tables := range []bool{false, true} {
			if tables {
				hosttest.PrepareAll(t, src, aux.Prepare)
			}
			if err := u.open(aux, handles, 0, chunks(universe)); err != nil {
				t.Fatal(err)
			}
			if got, _ := u.all(t); !slices.Equal(got, want) {
				t.Fatalf("tables %t: %d docIDs, want %d", tables, len(got), len(want))
			}
			// In two parts, and with skipped chunks.
			cut := rapid.IntRange(0, chunks(universe)).Draw(t, "cut")
			if err := u.open(aux, handles, 0, cut); err != nil {
				t.Fatal(err)
			}
			got, _ := u.all(t)
			if err := u.open(aux, handles, cut, chunks(universe)); err != nil {
				t.Fatal(err)
			}
			rest, _ := u.all(t)
			if got = append(got, rest...); !slices.Equal(got, want) {
				t.Fatalf("tables %t, cut at chunk %d: %d docIDs, want %d", tables, cut, len(got), len(want))
			}
			if universe <= 1<<24 {
				if got := onBoard(t, aux, handles, min(uint64(cut)*chunkDocs, uint64(universe))); !slices.Equal(got, want) {
					t.Fatalf("tables %t, on a board, cut at chunk %d: %d docIDs, want %d", tables, cut, len(got), len(want))
				}
			}
			if err := u.open(aux, handles, 0, chunks(universe)); err != nil {
				t.Fatal(err)
			}
			u.seek(cut)
			from, _ := slices.BinarySearchFunc(want, uint64(cut)*chunkDocs, func(x uint32, y uint64) int { return int(int64(x) - int64(y)) })
			if got, _ := u.all(t); !slices.Equal(got, want[from:]) {
				t.Fatalf("tables %t, from chunk %d: %d docIDs, want %d", tables, cut, len(got), len(want)-from)
			}
		}
	})
}

// onBoard returns the docIDs of a union that a board computes in two parts, and compares their
// number with its counts.
func onBoard(t rapid.TB, aux *lookup.Auxiliary, lists []plan.Handle, cut uint64) []uint32 {
	w, b := new(worker), new(board)
	j := &batch{Matcher: New(aux, 1), ctx: context.Background()}
	for _, j.queries = range []*plan.MatchBatch{{}, {CountOnly: true}} {
		total := 0
		for _, part := range [][2]uint64{{0, cut}, {cut, uint64(aux.Source.Docs)}} {
			n, err := b.unite(w, j, lists, part[0], part[1], nil)
			if err != nil {
				t.Fatal(err)
			}
			total += n
		}
		if total != len(w.docs) {
			t.Fatalf("a board counts %d docIDs, and has %d", total, len(w.docs))
		}
	}
	return w.docs
}

// TestUnionSkips: chunks without docIDs are skipped.
func TestUnionSkips(t *testing.T) {
	src := hosttest.Source(t, math.MaxUint32, codec.IDs()[:1], []uint32{5, 1 << 31}, []uint32{5, 6, 1 << 31, 1<<31 + 9})
	u := new(union)
	if err := u.open(lookup.New(src, work.NewBudget(0, 0)), []plan.Handle{0, 1}, 0, chunks(src.Docs)); err != nil {
		t.Fatal(err)
	}
	docs, n := u.all(t)
	if !slices.Equal(docs, []uint32{5, 6, 1 << 31, 1<<31 + 9}) || n != 2 {
		t.Errorf("%v in %d chunks", docs, n)
	}
}

// TestAppendTo: the docIDs of a chunk do not depend on the room behind earlier docIDs.
func TestAppendTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		c := chunk{base: 7 * chunkDocs, bits: make([]uint64, rapid.IntRange(1, chunkWords).Draw(t, "words"))}
		want := []uint32{1, 2, 3}
		for i := range c.bits {
			if r.IntN(4) > 0 {
				c.bits[i] = r.Uint64() & r.Uint64()
			}
			for x := c.bits[i]; x != 0; x &= x - 1 {
				want = append(want, c.base+uint32(64*i+bits.TrailingZeros64(x)))
			}
		}
		dst := append(make([]uint32, 0, rapid.IntRange(3, chunkDocs).Draw(t, "room")), 1, 2, 3)
		if got := c.appendTo(dst); !slices.Equal(got, want) {
			t.Fatalf("%d docIDs, want %d", len(got), len(want))
		}
	})
}

// TestWithin: a chunk keeps the documents of a filter, in either form.
func TestWithin(t *testing.T) {
	f, err := filter.New(chunkDocs+200, append(make([]uint64, chunkDocs/64), 1<<5|1<<9, 0, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	want := []uint32{chunkDocs + 5, chunkDocs + 9}
	for _, c := range []chunk{
		{base: chunkDocs, docs: []uint32{chunkDocs + 1, chunkDocs + 5, chunkDocs + 9, chunkDocs + 150}},
		{base: chunkDocs, bits: []uint64{1<<1 | 1<<5 | 1<<9, 0, 1 << 22}},
	} {
		if got := c.within(f).appendTo(nil); !slices.Equal(got, want) {
			t.Errorf("%d docs, %d words: %d, want %d", len(c.docs), len(c.bits), got, want)
		}
	}
}

// TestDenseRuns: only a run from the first to the last document of a range fills it.
func TestDenseRuns(t *testing.T) {
	const base, last = 128, 255
	for run, want := range map[docset.Run]bool{{First: base, Last: last}: true, {First: 0, Last: 1000}: true, {First: base, Last: last - 1}: false, {First: base + 1, Last: last}: false, {First: base - 1, Last: last - 1}: false} {
		var all [2]uint64
		any, full := orDense(all[:], []*span{{runs: docset.Runs{run}}}, base, last)
		if !any || full != want {
			t.Errorf("%+v: any %t, full %t", run, any, full)
		}
		first, end := max(run.First, base), min(run.Last, last)
		if n := bits.OnesCount64(all[0]) + bits.OnesCount64(all[1]); !want && n != int(end-first)+1 {
			t.Errorf("%+v: %d documents", run, n)
		}
	}
}

// TestUnionBehind: a union that is sought behind its end has ended.
func TestUnionBehind(t *testing.T) {
	src := hosttest.Source(t, math.MaxUint32, codec.IDs()[:1], []uint32{5, chunkDocs, 3*chunkDocs + 1, 1 << 31})
	u := new(union)
	if err := u.open(lookup.New(src, work.NewBudget(0, 0)), []plan.Handle{0}, 0, 3); err != nil {
		t.Fatal(err)
	}
	if at := u.ahead(7 * chunkDocs); at != never {
		t.Errorf("a document at %d behind the end", at)
	}
	if docs, _ := u.all(t); docs != nil {
		t.Errorf("%d behind the end", docs)
	}
}

// TestUnionOfCorruptBits: bits behind the last document, which a corrupt list may have, are no documents.
func TestUnionOfCorruptBits(t *testing.T) {
	docs := []uint32{3, 98, 99, 100, 130, 511}
	src := hosttest.Source(t, 512, []codec.ID{codec.Bitset}, docs, docs)
	src.Docs = 100
	u := new(union)
	if err := u.open(lookup.New(src, work.NewBudget(0, 0)), []plan.Handle{0, 1}, 0, chunks(src.Docs)); err != nil {
		t.Fatal(err)
	}
	if got, _ := u.all(t); !slices.Equal(got, docs[:3]) {
		t.Errorf("%v", got)
	}
}
