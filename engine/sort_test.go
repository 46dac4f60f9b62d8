package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/build"
	"heddle/engine/observe"
	tablebuild "heddle/engine/table/build"
	read "heddle/engine/table/read/csv"
)

// TestSortDevice compares sorted searches on a device, which finds the first documents by attributes or scores, with the answers
// of pure Go: matching all documents, words and expressions, with and without filters, by attributes alone and in front of the
// score, with groups, boosts, a least score and pages.
func TestSortDevice(t *testing.T) {
	if onHost() {
		t.Skip("no device: HEDDLE_TEST_BACKEND is not opencl")
	}
	r := rand.New(rand.NewPCG(41, 4))
	var docs []string
	rows := "year,price,lang\n"
	for i := range 6000 {
		words := make([]string, 1+r.IntN(8))
		for k := range words {
			words[k] = fmt.Sprintf("w%d", r.IntN(20))
		}
		docs = append(docs, fmt.Sprintf("d%d\t%s", i, strings.Join(words, " ")))
		year := fmt.Sprint(1990 + r.IntN(30))
		if r.IntN(6) == 0 {
			year = ""
		}
		rows += fmt.Sprintf("%s,%d.%02d,%s\n", year, r.IntN(5000), r.IntN(100), []string{"de", "en", "fr"}[r.IntN(3)])
	}
	dir := t.TempDir()
	texts, index, attributes := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "x.hdl"), filepath.Join(dir, "x.hdb")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(texts, []byte(strings.Join(docs, "\n")), 0o644))
	_, err := build.Build(t.Context(), index, []string{texts}, build.Options{Format: build.Text})
	must(err)
	src, err := read.Open(t.Context(), []string{"-"}, read.Options{Stdin: strings.NewReader(rows), Null: []string{""}})
	must(err)
	defer src.Close()
	_, err = tablebuild.Build(t.Context(), src, attributes, tablebuild.Options{})
	must(err)
	type side struct {
		index *Index
		table *Table
	}
	var sides []side
	for _, opt := range []Options{{Backend: "host"}, backendOptions(t)} {
		e := tableEngine(t, opt)
		x, err := e.OpenIndex(t.Context(), index, IndexOptions{})
		must(err)
		table, err := e.OpenTable(t.Context(), attributes, TableOptions{})
		must(err)
		sides = append(sides, side{x, table})
	}
	check := func(q Query, where string, page int) (want Hits) {
		for i, s := range sides {
			var told observe.Explanation
			q.Table, q.Explain = s.table, &told
			if where != "" {
				q.Filter = &Filter{Where: where, Table: s.table}
			}
			got, err := s.index.Search(t.Context(), q)
			must(err)
			if i == 0 {
				want = got
				continue
			}
			if !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) || got.Total != want.Total || got.After != want.After {
				t.Errorf("%+v where %q: %v %v, want %v %v", q, where, got.Docs, got.Total, want.Docs, want.Total)
			}
			if page == 0 && !strings.Contains(told.Order, "the processor of the matches") {
				t.Errorf("%+v where %q: %s", q, where, told.Order)
			}
		}
		return want
	}
	boost := &Boost{Column: "year", From: "1995", To: "2015", Weight: 3}
	for _, where := range []string{"", "year >= 2010", "lang = 'de' AND price < 100"} {
		for _, text := range []string{"", "*", "w3", "w1 w2", "w4 AND (w5 OR w6) NOT w7", "none"} {
			for _, sort := range [][]string{{"year desc", "score"}, {"price"}, {"lang", "year desc"}, {"year", "price desc", "score asc"}, {"price desc", "score"}} {
				check(Query{Text: text, K: 25, Offset: 7, Sort: sort, Total: TotalExact}, where, 0)
				check(Query{Text: text, K: 25, Offset: 7, Sort: sort, Boost: boost}, where, 0)
			}
		}
		if strings.Contains(where, "lang") {
			continue // so few documents that all of them are put in order
		}
		for _, q := range []Query{
			{Text: "w1 w2", Sort: []string{"score", "price"}},
			{Text: "w1 w2 w3", Collapse: "year", CollapseLimit: 2, Total: TotalExact},
			{Text: "w3", Collapse: "price", Sort: []string{"price", "score"}},
			{Text: "w1 w5", Boost: &Boost{Column: "year", From: "1990", To: "2020", Weight: 0.2}, Total: 100},
			{Text: "w1 w5", MinScore: 1, Sort: []string{"price desc", "score"}},
			{Text: "w1 w5", MinScore: 0.5, Boost: &Boost{Column: "price", From: "3000", To: "0", Weight: 0.1}},
			{Text: "w7 OR w8 NOT w9", Collapse: "lang", CollapseLimit: 100},
		} {
			q.K, q.After = 8, FirstPage
			for page := range 3 { // groups end before the last page
				q.After = check(q, where, page).After
			}
		}
	}
}

// TestCursorTable: a cursor of an order by an attribute ends with the content of the attribute table.
func TestCursorTable(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	texts, index := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "x.hdl")
	must(os.WriteFile(texts, []byte("a\tloom\nb\tloom\nc\tloom\n"), 0o644))
	_, err := build.Build(t.Context(), index, []string{texts}, build.Options{Format: build.Text})
	must(err)
	var tables []string
	for i, rows := range []string{"year\n1\n2\n3\n", "year\n3\n2\n1\n"} {
		src, err := read.Open(t.Context(), []string{"-"}, read.Options{Stdin: strings.NewReader(rows)})
		must(err)
		tables = append(tables, filepath.Join(dir, fmt.Sprintf("%d.hdb", i)))
		_, err = tablebuild.Build(t.Context(), src, tables[i], tablebuild.Options{})
		must(err)
		must(src.Close())
	}
	e := tableEngine(t, Options{Backend: "host"})
	x, err := e.OpenIndex(t.Context(), index, IndexOptions{})
	must(err)
	for name, q := range map[string]Query{
		"sort":     {Sort: []string{"year"}},
		"collapse": {Collapse: "year"},
		"boost":    {Boost: &Boost{Column: "year", From: "1", To: "3", Weight: 1}},
		"score":    {}, // does not depend on the table
	} {
		table, err := e.OpenTable(t.Context(), tables[0], TableOptions{})
		must(err)
		q.Text, q.K, q.After, q.Table = "loom", 1, FirstPage, table
		page := func(want Code) {
			t.Helper()
			h, err := x.Search(t.Context(), q)
			if got := CodeOf(err); got != want {
				t.Errorf("%s: code %s, want %s: %v", name, got, want, err)
			}
			q.After = h.After
		}
		page(OK)
		page(OK)
		must(table.Reload(t.Context(), tables[1]))
		if name == "score" {
			page(OK)
		} else {
			page(Gone)
		}
	}
}
