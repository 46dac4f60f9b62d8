package match

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
)

// mergeForms are the forms of merges, in small tiles, so that lists have many.
func mergeForms(d *device.Device) map[string]device.Tuning {
	all := map[string]device.Tuning{}
	for name, t := range devicetest.Forms(d) {
		if name == "own" {
			all[name] = t
			continue
		}
		t.Tile, t.RoundTiles, t.MergeLeast = 128, 37, 1
		t.MergeWG, t.MergeRows = 32, 4
		if t.LookBack && !devicetest.Small() { // a program of its own, whose build takes seconds
			t.MergeWG, t.MergeRows = 64, 16
		}
		all[name] = t
	}
	return all
}

const mergeDocs = 1<<32 - 1

// mergeLists are pairs and triples of lists, the shortest first, by their difficulty.
func mergeLists() map[string][][]uint32 {
	r := rand.New(rand.NewPCG(11, 12))
	clustered := func(n int) []uint32 {
		docs, at := make([]uint32, n), uint32(0)
		for i := range docs {
			if at += 1 + r.Uint32N(2); r.IntN(200) == 0 {
				at += r.Uint32N(200_000)
			}
			docs[i] = at
		}
		return docs
	}
	high := devicetest.Spread(r, 3000, 1, 3)
	for i := range high {
		high[i] = mergeDocs - 1 - high[i] // up to the greatest docID
	}
	slices.Reverse(high)
	evens := devicetest.Spread(r, 5000, 2, 2)
	apart := append(devicetest.Spread(r, 40, 1, 3), high...) // a tile with all of the second list in a gap
	return map[string][][]uint32{
		"a third":   {devicetest.Spread(r, 4999, 1, 5), devicetest.Spread(r, 5000, 1, 5)},
		"a few":     {devicetest.Spread(r, 4500, 1, 127), devicetest.Spread(r, 5001, 1, 127)},
		"far apart": {devicetest.Spread(r, 3000, 1, 1<<20), devicetest.Spread(r, 3300, 1, 1<<20)},
		"the same":  {evens, evens},
		"none in common": {evens, slices.Collect(func(yield func(uint32) bool) { // odd ones
			for _, d := range evens {
				if !yield(d + 1) {
					return
				}
			}
		})},
		"one behind other":  {devicetest.Spread(r, 2000, 1, 2), high},
		"one around other":  {apart, devicetest.Spread(r, 9000, 1, 500)},
		"three times":       {devicetest.Spread(r, 2000, 1, 30), devicetest.Spread(r, 6000, 1, 10)},
		"a hundred times":   {devicetest.Spread(r, 300, 1, 300), devicetest.Spread(r, 30000, 1, 3)},
		"clustered":         {clustered(4000), clustered(4001)},
		"clustered, spread": {clustered(4000), devicetest.Spread(r, 4001, 1, 20_000)},
		"high":              {high, high[5:]},
		"one element":       {{77}, devicetest.Spread(r, 700, 1, 2)},
		"tile and one":      {devicetest.Spread(r, 129, 1, 3), devicetest.Spread(r, 128, 1, 3)},
		"three lists":       {devicetest.Spread(r, 2000, 1, 9), devicetest.Spread(r, 2500, 1, 5), devicetest.Spread(r, 12000, 1, 3)},
		"five lists":        {devicetest.Spread(r, 2000, 1, 3), devicetest.Spread(r, 2500, 1, 3), devicetest.Spread(r, 2600, 1, 3), devicetest.Spread(r, 2700, 1, 3), devicetest.Spread(r, 9000, 1, 2)},
		"three, soon none":  {evens[:3000], evens[3000:], devicetest.Spread(r, 9000, 1, 5)},
	}
}

// TestMerge compares with Go: all forms, lists raw and as bitsets, the shortest one
// compressed too, by the algorithm of that name and by auto.
func TestMerge(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	src := &plan.Source{Docs: mergeDocs}
	var postings [][]uint32
	var queries [][]plan.Handle
	var names []string
	add := func(id codec.ID, docs []uint32) plan.Handle {
		h, err := src.Append(id, docs, codec.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		postings = append(postings, docs)
		return h
	}
	for name, docs := range mergeLists() {
		var raw, mixed []plan.Handle
		for i, l := range docs {
			raw = append(raw, add(codec.Raw, l))
			id := codec.ParaPFor // the shortest
			if i > 0 && l[len(l)-1] < 1<<20 {
				id = codec.Bitset
			} else if i > 0 {
				id = codec.Raw
			}
			mixed = append(mixed, add(id, l))
		}
		queries = append(queries, raw, mixed)
		names = append(names, name, name+", mixed codecs")
	}
	for name, form := range mergeForms(d) {
		t.Run(name, func(t *testing.T) {
			b := devicetest.OpenRow(t, d, form, false)
			s, err := loadFor(t.Context(), b, src)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			for _, a := range []plan.Algorithm{plan.MergePath, plan.Auto} {
				for _, countOnly := range []bool{false, true} {
					batch := plan.MatchBatch{Algorithm: a, CountOnly: countOnly}
					for _, q := range queries {
						batch.Add(src, q...)
					}
					batch.Add(src) // an unknown term
					var out plan.Results
					if err := s.Match(t.Context(), &batch, &out); err != nil {
						t.Fatal(err)
					}
					for i := range queries {
						want := reference.Conjunction(postings, batch.Query(i)...)
						if out.Count(i) != uint64(len(want)) {
							t.Errorf("%s, %s: %d docIDs, want %d", a, names[i], out.Count(i), len(want))
						} else if !countOnly && !slices.Equal(out.Query(i), want) {
							t.Errorf("%s, %s: other docIDs", a, names[i])
						}
					}
				}
			}
		})
	}
}

// TestMergeWindow merges two elements at any distance around the size of the window, which begins at any place of
// four words, and elements around the end of a list of any length.
func TestMergeWindow(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, form := range mergeForms(d) {
		t.Run(name, func(t *testing.T) {
			src := &plan.Source{Docs: mergeDocs}
			var postings [][]uint32
			var queries [][]plan.Handle
			add := func(docs []uint32) {
				if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
					t.Fatal(err)
				}
				postings = append(postings, docs)
			}
			const every = 1000
			window := uint32(2 * mergeTile(form))
			for n := 5*window + 20; n < 5*window+24; n++ {
				var long []uint32
				for i := range n {
					long = append(long, every*(i+1))
				}
				list := plan.Handle(len(postings))
				add(long)
				with := func(docs ...uint32) {
					add(docs)
					queries = append(queries, []plan.Handle{plan.Handle(len(postings) - 1), list})
				}
				first := window + n%4
				for far := window - 6; far < window+3; far++ {
					with(every*first, every*(first+far))
				}
				with(every*(n-5), every*(n-2), every*(n-1), every*n, every*n+1, every*(n+1))
				for j := range 32 { // up to the first bucket behind the list, and to others
					with(every*(n-5), every*n, every*n+1<<j)
				}
			}
			s, err := loadFor(t.Context(), devicetest.OpenRow(t, d, form, false), src)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			batch := plan.MatchBatch{Algorithm: plan.MergePath}
			for _, q := range queries {
				batch.Add(src, q...)
			}
			var out plan.Results
			if err := s.Match(t.Context(), &batch, &out); err != nil {
				t.Fatal(err)
			}
			for i, q := range queries {
				if want := reference.Conjunction(postings, batch.Query(i)...); !slices.Equal(out.Query(i), want) {
					t.Errorf("%v: %v, want %v", postings[q[0]], out.Query(i), want)
				}
			}
		})
	}
}

// TestMergeRounds has merges and other queries in turns: rounds are of one kind.
func TestMergeRounds(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	r := rand.New(rand.NewPCG(13, 14))
	src := &plan.Source{Docs: 1 << 20}
	var postings [][]uint32
	for i := range 9 {
		docs := devicetest.Spread(r, 900+i, 1, 900)
		if _, err := src.Append([]codec.ID{codec.Raw, codec.ParaPFor, codec.Raw}[i%3], docs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		postings = append(postings, docs)
	}
	batch := plan.MatchBatch{Algorithm: plan.MergePath}
	for i := range 200 {
		batch.Add(src, plan.Handle(i%9), plan.Handle(i*i%9), plan.Handle(i/9%9))
	}
	for name, form := range mergeForms(d) {
		b := devicetest.OpenRow(t, d, form, false)
		s, err := loadFor(t.Context(), b, src)
		if err != nil {
			t.Fatal(err)
		}
		var out plan.Results
		if err := s.Match(t.Context(), &batch, &out); err != nil {
			t.Fatal(err)
		}
		for i := range batch.Queries() {
			if want := reference.Conjunction(postings, batch.Query(i)...); !slices.Equal(out.Query(i), want) {
				t.Errorf("%s: query %v: %d docIDs, want %d", name, batch.Query(i), out.Count(i), len(want))
			}
		}
		kinds := map[bool]int{}
		x := s.slots.Try(s.newSlot)
		records := s.set.Tables[mergeTables].Records
		for at := (position{}); at.query < batch.Queries(); {
			from := at.query
			x.round, at = s.cut(&batch, records, at, x.Up.Words, x.firstTile)
			kinds[x.round.merge]++
			for i := range x.round.queries {
				q := batch.Query(from + i)
				elements, rest, _ := drivingList(&batch, records, from+i)
				if got := s.merges(plan.MergePath, records, elements, rest); got != x.round.merge {
					t.Fatalf("%s: query %v in a round of merges: %t", name, q, x.round.merge)
				}
			}
		}
		s.slots.Give(x)
		if kinds[true] < 2 || kinds[false] < 2 {
			t.Errorf("%s: rounds of merges and others: %v", name, kinds)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMerges takes merges under auto for long lists of like length only.
func TestMerges(t *testing.T) {
	s := &Matcher{tile: 256, maxTiles: 100, mergeTile: 1024, mergeLeast: 1000}
	list := func(id codec.ID, n, kind uint32) lists.Record {
		return lists.Record{1: n, 3: uint32(id) | kind<<16, 7: uint32(lists.Lookup(id))}
	}
	for _, c := range []struct {
		name  string
		lists []lists.Record
		want  bool
	}{
		{"like", []lists.Record{list(codec.Raw, 1000, 0), list(codec.Raw, 1500, lists.ProbeHS)}, true},
		{"short", []lists.Record{list(codec.Raw, 999, 0), list(codec.Raw, 1000, lists.ProbeHS)}, false},
		{"unlike", []lists.Record{list(codec.Raw, 1000, 0), list(codec.Raw, 1600, lists.ProbeHS)}, false},
		{"unlike, with bits", []lists.Record{list(codec.Raw, 1000, 0), list(codec.Raw, 9000, lists.ProbeBits)}, true},
		{"bitset", []lists.Record{list(codec.ParaPFor, 1000, 0), list(codec.Bitset, 90000, 0)}, true},
		{"third list unlike", []lists.Record{list(codec.Raw, 1000, 0), list(codec.Raw, 1000, 0), list(codec.Raw, 90000, 0)}, true},
		{"compressed", []lists.Record{list(codec.Raw, 1000, 0), list(codec.ParaPFor, 1000, 0)}, false},
		{"alone", []lists.Record{list(codec.Raw, 1000, 0)}, false},
	} {
		q := make([]plan.Handle, len(c.lists))
		for i := range q {
			q[i] = plan.Handle(i)
		}
		if got := s.merges(plan.Auto, c.lists, &c.lists[0], q[1:]); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
		if s.merges(plan.BS, c.lists, &c.lists[0], q[1:]) {
			t.Errorf("%s: merged under bs", c.name)
		}
	}
	s.mergeLeast = 0
	alike := []lists.Record{list(codec.Raw, 1000, 0), list(codec.Raw, 1000, 0)}
	if s.merges(plan.Auto, alike, &alike[0], []plan.Handle{1}) {
		t.Error("merged although merge_least is 0")
	}
}

// BenchmarkMerge measures the intersection of two raw lists of equal length by the
// device's clock, kernels alone: by merges of several shapes, and by other
// algorithms.
func BenchmarkMerge(b *testing.B) {
	d := devicetest.Find(b, ops)
	sizes := []int{1 << 20, 1 << 24, 1 << 26}
	if devicetest.Small() || d.Info().Type != "gpu" {
		sizes = []int{1 << 18, 1 << 20}
	}
	for _, n := range sizes {
		for _, rate := range []int{3, 64} { // one element in so many is in the other list
			src := &plan.Source{Docs: mergeDocs}
			r := rand.New(rand.NewPCG(uint64(n), uint64(rate)))
			h := make([]plan.Handle, 2)
			for i := range h {
				var err error
				if h[i], err = src.Append(codec.Raw, randomSet(r, n, uint32(rate)), codec.DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
			src.Docs = slices.Max(src.Words) + 1 // as far as the lists reach
			// One store a shape: tables of lists so long take seconds.
			run := func(t device.Tuning, methods map[string]plan.MatchBatch) {
				t.RoundTiles, t.Slots = max(t.RoundTiles, n/t.Tile+1), 1
				backend, err := device.Open(b.Context(), d, device.Options{Tuning: &t, SkipSelfTest: true, Profiling: true})
				if err != nil {
					b.Fatal(err)
				}
				defer backend.Close()
				s, err := loadFor(b.Context(), backend, src)
				if err != nil {
					b.Fatal(err)
				}
				defer s.close()
				for _, name := range slices.Sorted(maps.Keys(methods)) {
					batch := methods[name]
					batch.Add(src, h...)
					b.Run(fmt.Sprintf("n=%d/rate=1:%d/%s", n, rate, name), func(b *testing.B) { benchMerge(b, s, &batch, n) })
				}
			}
			run(d.Tuning(), map[string]plan.MatchBatch{"hs8": {Algorithm: plan.HS8}, "hs16": {Algorithm: plan.HS16}, "bits": {Algorithm: plan.Bits}})
			for _, shape := range []struct {
				wg, rows int
				lookBack bool
			}{{128, 8, false}, {64, 8, true}, {128, 4, true}, {128, 8, true}, {128, 16, true}, {256, 4, true}, {256, 8, true}} {
				t := d.Tuning()
				t.MergeWG, t.MergeRows, t.MergeLeast, t.LookBack = shape.wg, shape.rows, 1, shape.lookBack
				if t.Tile = min(t.Tile, mergeTile(t)); t.LookBack && t.Serial {
					continue
				}
				name := fmt.Sprintf("/wg=%d/rows=%d/lookback=%t", t.MergeWG, t.MergeRows, t.LookBack)
				run(t, map[string]plan.MatchBatch{"merge" + name: {Algorithm: plan.MergePath}, "auto" + name: {Algorithm: plan.Auto},
					"count" + name: {Algorithm: plan.MergePath, CountOnly: true}})
			}
		}
	}
}

// benchMerge reports the best of some runs of a batch over two lists of n.
func benchMerge(b *testing.B, s *Matcher, batch *plan.MatchBatch, n int) {
	var out plan.Results
	best := plan.Stats{}
	for b.Loop() {
		for range 8 {
			if err := s.Match(b.Context(), batch, &out); err != nil {
				b.Fatal(err)
			}
			if best.Probe == 0 || out.Stats.Kernel() < best.Kernel() {
				best = out.Stats
			}
		}
	}
	took := best.Kernel().Seconds()
	b.ReportMetric(float64(2*n)/took/1e9, "Ginputs/s")
	b.ReportMetric(float64(8*n+4*int(best.Matches))/took/1e9, "GB/s")
	b.ReportMetric(took*1e6, "us")
	b.ReportMetric(best.Compact.Seconds()*1e6, "gather-us")
}

// randomSet is a set of n docIDs each of which is in it with a chance of 1 in
// `every`, as far as the universe reaches.
func randomSet(r *rand.Rand, n int, every uint32) []uint32 {
	docs, at := make([]uint32, n), uint64(0)
	scale := -1 / math.Log1p(-1/float64(every))
	for i := range docs {
		at += 1 + uint64(r.ExpFloat64()*scale) // geometric
		docs[i] = uint32(at)
		if at >= mergeDocs-uint64(n-i) { // the last stretch has no room: one after the other
			for j := i; j < n; j++ {
				docs[j] = uint32(mergeDocs - uint64(n-j))
			}
			break
		}
	}
	return docs
}
