package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"heddle/engine/index/querylang"
	"heddle/engine/internal/filter"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
	"heddle/engine/table/rowset"
)

// filterDocs is the number of rows of the table of flights.
const filterDocs = 5003

// attributed is an index with an attribute table.
type attributed struct {
	*Index
	e     *Engine
	table *Table
}

// openAttributed opens an index whose documents the table of flights describes.
func openAttributed(t testing.TB, opt Options, impacts uint8) *attributed {
	t.Helper()
	e := tableEngine(t, opt)
	src, dict := rankedCorpus(filterDocs).source(t, impacts)
	x, err := e.NewIndex(t.Context(), src, dict, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &attributed{x, e, memoryTable(t, e, 32)}
}

// drawFilter draws a filter and the documents that pass, as bits.
func (a *attributed) drawFilter(t *rapid.T, depth int) (*Filter, []uint64) {
	f, bits := new(Filter), everyDoc(filterDocs)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	some := func(name string) (docs []uint32) {
		one := rapid.SampledFrom([]int{1, 2, 10, 1000, filterDocs}).Draw(t, name)
		for d := range uint32(filterDocs) {
			if r.IntN(one) == 0 {
				docs = append(docs, d)
			}
		}
		return docs
	}
	within := func(docs []uint32) {
		set, err := rowset.FromIDs(docs, filterDocs)
		if err != nil {
			t.Fatal(err)
		}
		bits = common(bits, set)
	}
	if rapid.Bool().Draw(t, "with a predicate") {
		i := rapid.IntRange(0, len(wheres)-1).Draw(t, "where")
		f.Where, f.Table = wheres[i], a.table
		rows := wanted()
		bits = common(bits, slices.Clone(rows.Selection(i)))
	}
	if rapid.Bool().Draw(t, "with a bitmap") {
		docs := some("bitmap")
		f.Bitmap = roaring.BitmapOf(docs...)
		within(docs)
	}
	if rapid.Bool().Draw(t, "with docIDs") {
		docs := append(some("docIDs"), 7, 7)
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		f.Docs = docs
		within(docs)
	}
	if depth < 2 && rapid.IntRange(0, 3).Draw(t, "and") == 0 {
		more, set := a.drawFilter(t, depth+1)
		f.And = append(f.And, more)
		bits = common(bits, set)
	}
	return f, bits
}

// TestFilters compares queries under filters with the documents of the same query that pass, for
// every kind of query, alone and in one call.
func TestFilters(t *testing.T) {
	testneeds.OneCaller(t)
	for _, impacts := range []uint8{0, 8} {
		a := openAttributed(t, backendOptions(t), impacts)
		rapid.Check(t, func(t *rapid.T) { a.checkFilters(t) })
	}
}

func (a *attributed) checkFilters(t *rapid.T) {
	var qs []Query
	var sets [][]uint64
	for range rapid.IntRange(1, 6).Draw(t, "queries") {
		words := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("t%d", rapid.IntRange(0, rankedTerms).Draw(t, "term"))
		}), 1, 5).Draw(t, "words")
		q := Query{Text: strings.Join(words, rapid.SampledFrom([]string{" ", " ", " AND ", " OR ", " NOT ", " OR NOT "}).Draw(t, "between"))}
		switch rapid.IntRange(0, 7).Draw(t, "all") {
		case 0:
			q.Text = "*"
		case 1:
			q.Text = "NOT " + q.Text
		}
		switch rapid.SampledFrom([]string{"docs", "count", "ranked"}).Draw(t, "kind") {
		case "count":
			q.CountOnly = true
			q.Match = rapid.SampledFrom([]Match{Or, And}).Draw(t, "match")
		case "ranked":
			q.K = rapid.SampledFrom([]int{1, 3, 10, 100}).Draw(t, "k")
			q.Match = rapid.SampledFrom(Matches()).Draw(t, "match")
		default:
			q.Match = rapid.SampledFrom([]Match{Or, And}).Draw(t, "match")
		}
		q.Total = rapid.SampledFrom([]uint64{0, 1, 3, 60, 900, 5002, TotalExact}).Draw(t, "total")
		var set []uint64
		if rapid.IntRange(0, 3).Draw(t, "filtered") > 0 {
			q.Filter, set = a.drawFilter(t, 0)
		}
		qs, sets = append(qs, q), append(sets, set)
	}
	want := make([]Hits, len(qs))
	for i, q := range qs {
		want[i] = a.filteredPlainly(t, q, sets[i])
		got, err := a.Search(context.Background(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		sameHits(t, q, got, want[i])
	}
	if err := a.SearchAll(context.Background(), qs, func(first int, hits []Hits) error {
		for i, h := range hits {
			sameHits(t, qs[first+i], h, want[first+i])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func sameHits(t *rapid.T, q Query, got, want Hits) {
	t.Helper()
	if got.Count != want.Count || got.Total != want.Total || !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) {
		t.Fatalf("%+v:\n%d %+v %d %v, want\n%d %+v %d %v", q, got.Count, got.Total, got.Docs, got.Scores, want.Count, want.Total, want.Docs, want.Scores)
	}
}

// filteredPlainly answers q without its filter and removes the documents that do not pass.
func (a *attributed) filteredPlainly(t *rapid.T, q Query, set []uint64) Hits {
	whole := q
	whole.Filter, whole.CountOnly, whole.Total = nil, false, 0
	all := func(m Match) (h Hits) {
		whole.Match = m
		if q.K > 0 {
			whole.K = filterDocs
		}
		found, err := a.Search(context.Background(), whole)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range found.Docs {
			if len(reference.Within([]uint32{d}, set)) > 0 {
				h.Docs = append(h.Docs, d)
				if q.K > 0 {
					h.Scores = append(h.Scores, found.Scores[i])
				}
			}
		}
		return h
	}
	m := q.Match
	if m == AndOr {
		m = And
	}
	h := all(m)
	if q.Match == AndOr && (len(h.Docs) < q.K || querylang.HasOperators(q.Text)) {
		h = all(Or)
	}
	if n := uint64(len(h.Docs)); q.Total > 0 {
		h.Total = plan.UpTo(n, q.Total)
	}
	if q.K > 0 && len(h.Docs) > q.K {
		h.Docs, h.Scores = h.Docs[:q.K], h.Scores[:q.K]
	}
	h.Count = uint64(len(h.Docs))
	if q.CountOnly {
		h.Docs = nil
	}
	return h
}

// TestEverything: a filter alone, * and a NOT alone are queries. Documents without a term of the query score
// 0, and documents with one as they do without the others.
func TestEverything(t *testing.T) {
	a := openAttributed(t, backendOptions(t), 0)
	of := func(q Query) Hits {
		t.Helper()
		h, err := a.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		return h
	}
	every := make([]uint32, filterDocs)
	for d := range every {
		every[d] = uint32(d)
	}
	with := of(Query{Text: "t1"}).Docs
	rest := slices.DeleteFunc(slices.Clone(every), func(d uint32) bool { _, found := slices.BinarySearch(with, d); return found })
	some := &Filter{Docs: []uint32{with[0], rest[0], rest[1]}}
	passed := slices.Sorted(slices.Values(some.Docs))
	for _, c := range []struct {
		q    Query
		want []uint32
	}{
		{Query{Text: "*"}, every}, {Query{Text: "NOT t1"}, rest}, {Query{Text: "NOT t1", Match: And}, rest}, {Query{Text: "t1 OR NOT t1"}, every},
		{Query{Filter: some}, passed}, {Query{Filter: some, Match: And}, passed}, {Query{Text: "NOT t1", Filter: some}, rest[:2]}, {Query{}, []uint32{}}, {Query{Text: "*", Literal: true}, []uint32{}},
		{Query{Expr: &querylang.Expr{Op: querylang.All}}, every},
	} {
		if got := of(c.q); !slices.Equal(got.Docs, c.want) || got.Count != uint64(len(c.want)) || got.Docs == nil {
			t.Errorf("%+v: %d documents, want %d", c.q, got.Count, len(c.want))
		}
		count := c.q
		count.CountOnly = true
		if got := of(count); got.Count != uint64(len(c.want)) || got.Docs != nil {
			t.Errorf("%+v: count %d, want %d", c.q, got.Count, len(c.want))
		}
		ranked := c.q
		ranked.K, ranked.Match = 3, AndOr
		for range 2 { // from the cache, too
			got := of(ranked)
			if n := min(3, len(c.want)); len(got.Docs) != n || c.q.Text != "t1 OR NOT t1" && !slices.Equal(got.Docs, c.want[:n]) || slices.Max(append(got.Scores, 0)) > 0 != (c.q.Text == "t1 OR NOT t1") {
				t.Errorf("%+v: %v %v", ranked, got.Docs, got.Scores)
			}
		}
	}
	scores := map[uint32]float64{}
	for i, h := 0, of(Query{Text: "t1", K: filterDocs}); i < len(h.Docs); i++ {
		scores[h.Docs[i]] = h.Scores[i]
	}
	h := of(Query{Text: "t1 OR NOT t2", K: filterDocs})
	if len(h.Docs) < len(with) {
		t.Errorf("%d documents", len(h.Docs))
	}
	for i, d := range h.Docs {
		if h.Scores[i] != scores[d] || i > 0 && (h.Scores[i] > h.Scores[i-1] || h.Scores[i] == h.Scores[i-1] && d < h.Docs[i-1]) {
			t.Fatalf("document %d: score %v, want %v", d, h.Scores[i], scores[d])
		}
	}
	facet := func(q Query) uint64 {
		matches, all, err := a.Facets(t.Context(), q, Facets{Table: a.table, Columns: []string{a.columns(t)[0]}})
		if err != nil || len(all) != 1 {
			t.Fatal(err)
		}
		return matches
	}
	if n := facet(Query{Text: "*"}); n != filterDocs {
		t.Errorf("facets of all: %d", n)
	}
	if n := facet(Query{Filter: some}); n != 3 {
		t.Errorf("facets of a filter: %d", n)
	}
}

// columns are the names of the attributes.
func (a *attributed) columns(t *testing.T) (names []string) {
	info, err := a.table.Info()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range info.Columns {
		names = append(names, c.Name)
	}
	return names
}

// TestFilterErrors names the part of the filter that is wrong.
func TestFilterErrors(t *testing.T) {
	a := openAttributed(t, backendOptions(t), 0)
	small := openTable(t, backendOptions(t))
	doubled := &Filter{Docs: []uint32{1}}
	for range filter.MaxDepth {
		doubled = &Filter{And: []*Filter{doubled, doubled}}
	}
	for name, c := range map[string]struct {
		f    *Filter
		code Code
		text string
	}{
		"no table":        {&Filter{Where: "delay > 1"}, InvalidQuery, "needs a table"},
		"no predicate":    {&Filter{Table: a.table}, InvalidQuery, "needs a table"},
		"syntax":          {&Filter{Where: "delay >", Table: a.table}, InvalidQuery, "filter: "},
		"column":          {&Filter{Where: "nobody = 1", Table: a.table}, InvalidQuery, "nobody"},
		"bitmap":          {&Filter{Bitmap: roaring.BitmapOf(1, filterDocs)}, InvalidQuery, "row 5003, there are 5003"},
		"docIDs":          {&Filter{Docs: []uint32{0, filterDocs + 1}}, InvalidQuery, "id 1 of the list is row 5004"},
		"and":             {&Filter{And: []*Filter{nil}}, InvalidQuery, "is nil"},
		"parts":           {doubled, InvalidQuery, "more than 256 parts"},
		"closed":          {&Filter{Where: "delay > 1", Table: closedTable(t)}, Closed, "closed"},
		"inner predicate": {&Filter{And: []*Filter{{Where: "delay > 1"}}}, InvalidQuery, "needs a table"},
	} {
		_, err := a.Search(t.Context(), Query{Text: "t1", Filter: c.f})
		if CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
		err = a.SearchAll(t.Context(), []Query{{Text: "t1"}, {Text: "t1", Filter: c.f}}, func(first int, hits []Hits) error {
			for i, h := range hits {
				if (h.Err != nil) != (first+i == 1) {
					t.Errorf("%s: query %d: %v", name, first+i, h.Err)
				}
			}
			return nil
		})
		if CodeOf(err) != c.code {
			t.Errorf("%s in a call of two: %v", name, err)
		}
	}
	src, dict := rankedCorpus(100).source(t, 0)
	x, err := a.e.NewIndex(t.Context(), src, dict, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = x.Search(t.Context(), Query{Text: "t1", Filter: &Filter{Where: "delay > 1", Table: small}})
	if e, ok := errors.AsType[*FilterSizeError](err); !ok || e.Rows != filterDocs || e.Docs != 100 || CodeOf(err) != InvalidQuery {
		t.Errorf("a table of another size: %v", err)
	}
}

func closedTable(t *testing.T) *Table {
	x := openTable(t, backendOptions(t))
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestFilterCache makes a set once, whatever the spelling of the predicate, and again after a reload
// of the table; it drops sets above the capacity.
func TestFilterCache(t *testing.T) {
	opt := backendOptions(t)
	opt.Filters = 64 << 10
	a := openAttributed(t, opt, 0)
	ask := func(f *Filter) *observe.Filter {
		t.Helper()
		var x observe.Explanation
		if _, err := a.Search(t.Context(), Query{Text: "t1 t2", K: 3, Filter: f, Explain: &x}); err != nil {
			t.Fatal(err)
		}
		return x.Filter
	}
	first := ask(&Filter{Where: "delay >= 60", Table: a.table})
	if first.Cached || first.Count == 0 || first.Docs != filterDocs || first.Plan == "" || !strings.Contains(first.String(), "delay >= 60") {
		t.Errorf("the first query: %v", first)
	}
	if second := ask(&Filter{Where: " (delay>=60)", Table: a.table}); !second.Cached || second.Count != first.Count {
		t.Errorf("the second query: %v", second)
	}
	docs := []uint32{9, 4}
	if x := ask(&Filter{Docs: docs}); x.Cached || x.Count != 2 || x.Plan != "seek" && onHost() {
		t.Errorf("few documents: %v", x)
	}
	if x := ask(&Filter{Docs: slices.Clone(docs)}); !x.Cached {
		t.Errorf("equal documents: %v", x)
	}
	if s := a.e.Stats().Filters; s.Hits != 2 || s.Misses != 2 || s.Entries != 2 || s.Bytes == 0 || s.Evicted != 0 {
		t.Errorf("%+v", s)
	}
	for i := range uint32(100) {
		ask(&Filter{Docs: []uint32{i, i + 1000, i + 3000}})
	}
	if s := a.e.Stats().Filters; s.Evicted == 0 || s.Bytes > s.Capacity || s.Entries > 64 {
		t.Errorf("after many filters: %+v", s)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if s := a.e.Stats().Filters; s.Entries != 0 || s.Bytes != 0 {
		t.Errorf("after the index was closed: %+v", s)
	}
}

// TestFilterReload reloads the table while queries run: each answer belongs to one table.
func TestFilterReload(t *testing.T) {
	path := tableFile(t, 32) // before the engine, which ends before it is removed
	e := tableEngine(t, backendOptions(t))
	src, dict := rankedCorpus(filterDocs).source(t, 0)
	x, err := e.NewIndex(t.Context(), src, dict, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := e.OpenTable(t.Context(), path, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	q := Query{Text: "t1 t2", K: 5, Filter: &Filter{Where: wheres[0], Table: table}}
	want, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		done.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got, err := x.Search(t.Context(), q)
				if err != nil || !slices.Equal(got.Docs, want.Docs) {
					t.Errorf("%d, %v; want %d", got.Docs, err, want.Docs)
					return
				}
			}
		})
	}
	for range 5 {
		if err := table.Reload(t.Context(), path); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	done.Wait()
	if s := e.Stats().Filters; s.Entries > 1 {
		t.Errorf("filters of closed tables are kept: %+v", s)
	}
}

// TestSpecial finds a filter anywhere among many queries.
func TestSpecial(t *testing.T) {
	qs := make([]Query, 50_000)
	if special(nil) || special(qs) {
		t.Error("a filter, where there is none")
	}
	for _, i := range []int{0, 1<<14 - 1, 1 << 14, 40_000, len(qs) - 1} {
		qs[i].Filter = &Filter{}
		if !special(qs) {
			t.Errorf("no filter, but query %d has one", i)
		}
		qs[i].Filter = nil
	}
}

// everyDoc returns the set of all documents.
func everyDoc(docs uint32) []uint64 {
	all := roaring.New()
	all.AddRange(0, uint64(docs))
	set, _ := rowset.FromRoaring(all, docs)
	return set
}

// common returns the documents of a and b, in the memory of b.
func common(a, b []uint64) []uint64 {
	for i, x := range a {
		b[i] &= x
	}
	return b
}
