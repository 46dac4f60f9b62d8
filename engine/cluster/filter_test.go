package cluster

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/split"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/index/hdl"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
)

// attributed is an index with a table of attributes, whole and in shards.
type attributed struct {
	now    *engine.Snapshot
	table  *engine.Table
	shards []*Coordinator
	rows   []string // year,lang of each document
}

// attribute builds an index and a table, and cuts both in all ways of splits.
func attribute(t *testing.T, e *engine.Engine) *attributed {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	lines, r := corpus(300), rand.New(rand.NewPCG(7, 8))
	rows := []string{"year,lang"}
	for range lines {
		rows = append(rows, fmt.Sprintf("%d,%s", 1990+r.IntN(30), []string{"de", "en", "", `"a, b"`, "fr"}[r.IntN(5)]))
	}
	dir := t.TempDir()
	docs, index, table := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "x.hdl"), filepath.Join(dir, "x.hdb")
	must(os.WriteFile(docs, []byte(strings.Join(lines, "\n")), 0o644))
	_, err := indexbuild.Build(t.Context(), index, []string{docs}, indexbuild.Options{Format: indexbuild.Text, Store: hdl.StoreText, Positions: true})
	must(err)
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(strings.Join(rows, "\n") + "\n")})
	must(err)
	defer src.Close()
	_, err = tablebuild.Build(t.Context(), src, table, tablebuild.Options{})
	must(err)
	a := &attributed{rows: rows[1:]}
	x, err := e.OpenIndex(t.Context(), index, engine.IndexOptions{})
	must(err)
	a.now, err = x.Snapshot()
	must(err)
	t.Cleanup(func() { a.now.Close() })
	a.table, err = e.OpenTable(t.Context(), table, engine.TableOptions{})
	must(err)
	for n, cuts := range splits(len(lines)) {
		parts := filepath.Join(dir, fmt.Sprint(n))
		opt := split.Options{Cuts: []uint64{}, Attributes: table}
		for _, c := range cuts[1 : len(cuts)-1] {
			opt.Cuts = append(opt.Cuts, uint64(c))
		}
		l, err := split.File(t.Context(), index, parts, opt)
		must(err)
		m := newMachines()
		m.layout, l.Epoch = l, 1
		for i := range l.Shards {
			s := &l.Shards[i]
			shard, err := e.OpenIndex(t.Context(), filepath.Join(parts, s.File), engine.IndexOptions{})
			must(err)
			attributes, err := e.OpenTable(t.Context(), filepath.Join(parts, s.Attributes.File), engine.TableOptions{})
			must(err)
			s.Replicas = []string{fmt.Sprint("n", i)}
			m.node(s.Replicas[0]).AddIndex("x", 1, i, shard)
			m.node(s.Replicas[0]).AddAttributes("x", 1, i, attributes)
		}
		a.shards = append(a.shards, New(m, m, Options{}))
	}
	return a
}

// filters draws a filter for the whole, whose table is nil for shards.
func drawFilter(t *rapid.T, docs uint32, depth int) *engine.Filter {
	f := &engine.Filter{}
	set := rapid.SliceOfN(rapid.Uint32Range(0, docs-1), 0, 120)
	switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
	case kind == 0:
		f.Docs = append([]uint32{}, set.Draw(t, "docs")...)
	case kind == 1:
		f.Bitmap = roaring.BitmapOf(set.Draw(t, "bitmap")...)
	default:
		f.Where = rapid.SampledFrom([]string{"year >= 2000", "lang = 'de'", "lang IS NULL", "year < 1995 OR lang IN ('en', 'a, b')", "year = 1800", "TRUE", "nothing = 1", "year >"}).Draw(t, "where")
	}
	if depth < 2 {
		for range rapid.IntRange(0, 2).Draw(t, "and") {
			f.And = append(f.And, drawFilter(t, docs, depth+1))
		}
	}
	return f
}

// on returns a filter with a table.
func on(f *engine.Filter, table *engine.Table) *engine.Filter {
	out := &engine.Filter{Where: f.Where, Bitmap: f.Bitmap, Docs: f.Docs}
	if f.Where != "" {
		out.Table = table
	}
	for _, a := range f.And {
		out.And = append(out.And, on(a, table))
	}
	return out
}

// TestFilters compares shards with the whole: queries of all kinds with filters on attributes and
// documents, alone and in batches with a filter each, and their facets.
func TestFilters(t *testing.T) {
	a := attribute(t, newEngine(t))
	docs := a.now.Info().Docs
	all := queries()
	rapid.Check(t, func(r *rapid.T) {
		c := rapid.SampledFrom(a.shards).Draw(r, "shards")
		var batch []engine.Query
		var want []api.Hits
		for range rapid.IntRange(1, 3).Draw(r, "queries") {
			q := rapid.SampledFrom(all).Draw(r, "query")
			if rapid.IntRange(0, 4).Draw(r, "filtered") > 0 {
				q.Filter = drawFilter(r, docs, 0)
			}
			asked := q
			if q.Filter != nil {
				asked.Filter = on(q.Filter, a.table)
			}
			facets := &engine.Facets{Table: a.table, Columns: []string{"lang", "year", "bins(year, 1950, 2000)", "bins(lang, 'e')"}, Limit: rapid.SampledFrom([]int{-1, 0, 2}).Draw(r, "limit"), CountOnly: rapid.IntRange(0, 3).Draw(r, "numbers") == 0}
			h, matches, counts, err := a.now.SearchFacets(r.Context(), asked, *facets)
			if asked.CountOnly { // which facets ignore
				var wrong error
				if h, wrong = a.now.Search(r.Context(), asked); err == nil {
					err = wrong
				}
			}
			w := api.Hits{Count: h.Count, Total: h.Total, Scores: h.Scores, Err: err}
			if err == nil {
				w.Note = a.now.Note(asked, h.Count > 0)
				if h.Docs != nil {
					w.IDs = []uint64{}
				}
				for _, d := range h.Docs {
					name, err := a.now.File().DocName(d)
					if err != nil {
						r.Fatal(err)
					}
					w.IDs, w.Names = append(w.IDs, uint64(d)), append(w.Names, name)
				}
			}
			if err == nil || engine.CodeOf(err) != engine.InvalidOption {
				batch, want = append(batch, q), append(want, w)
			}
			facets.Table = nil
			got, _, err := c.Search(r.Context(), "x", q, api.Ask{Names: true, Facets: facets})
			got.Err = err
			if err == nil {
				w.Matches, w.Facets = matches, counts
			}
			plain := q
			plain.Filter = nil
			if _, fault := a.now.Search(r.Context(), plain); fault != nil && w.Err != nil && engine.CodeOf(got.Err) == engine.CodeOf(w.Err) {
				continue // the text and the filter have faults; the error may name either
			}
			same(r, q, got, w)
		}
		if len(batch) == 0 {
			return
		}
		got, _, err := c.SearchAll(r.Context(), "x", batch, api.Ask{Names: true})
		if err != nil {
			r.Fatal(err)
		}
		for i, h := range got {
			if code, wanted := engine.CodeOf(h.Err), engine.CodeOf(want[i].Err); h.Err != nil && code == wanted {
				continue // the text names the call
			}
			same(r, batch[i], h, want[i])
		}
	})
}

// TestFilterErrors: filters and facets that shards cannot answer are errors of the query.
func TestFilterErrors(t *testing.T) {
	e := newEngine(t)
	m := place(t, e, corpus(20), []int{0, 10, 20}, 1)
	c := New(m, m, Options{})
	for want, q := range map[string]engine.Query{
		"no attributes":        {Text: "w1", Filter: &engine.Filter{Where: "a = 1"}},
		"document 20 is":       {Text: "w1", Filter: &engine.Filter{Docs: []uint32{20}}},
		"document 99 is":       {Text: "w1", Filter: &engine.Filter{And: []*engine.Filter{{Bitmap: roaring.BitmapOf(1, 99)}}}},
		"a filter in And is":   {Text: "w1", Filter: &engine.Filter{And: []*engine.Filter{nil}}},
		"takes Where without ": {Text: "w1", Filter: &engine.Filter{Where: "a = 1", Table: openTable(t, e, []string{"1,x"})}},
	} {
		if _, _, err := c.Search(t.Context(), "x", q, api.Ask{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, _, err := c.Search(t.Context(), "x", engine.Query{Text: "w1"}, api.Ask{Facets: &engine.Facets{Columns: []string{"a"}}}); engine.CodeOf(err) != engine.InvalidQuery {
		t.Errorf("facets: %v", err)
	}
}
