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

// TestSortDevice compares sorted searches on a device, which finds the first documents by attributes, with the answers of pure
// Go: matching all documents, words and expressions, with and without filters, by attributes alone and in front of the score, with
// and without a boost. Where the boosted score comes first, pure Go orders the documents: it depends on the scores of all matches,
// which no device gives.
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
	boost := &Boost{Column: "year", From: "1995", To: "2015", Weight: 3}
	for _, text := range []string{"", "*", "w3", "w1 w2", "w4 AND (w5 OR w6) NOT w7", "none"} {
		for _, where := range []string{"", "year >= 2010", "lang = 'de' AND price < 100"} {
			for _, order := range []struct {
				sort   []string
				boost  *Boost
				device bool
			}{
				{[]string{"year desc", "score"}, nil, true}, {[]string{"price"}, nil, true}, {[]string{"lang", "year desc"}, nil, true},
				{[]string{"year", "price desc", "score asc"}, nil, true}, {[]string{"price desc", "score"}, nil, true},
				{[]string{"lang", "score"}, boost, true}, {[]string{"year desc"}, boost, true}, {[]string{"score", "price"}, boost, false}, {nil, boost, false},
			} {
				var want Hits
				for i, s := range sides {
					var told observe.Explanation
					q := Query{Text: text, K: 25, Offset: 7, Sort: order.sort, Boost: order.boost, Total: TotalExact, Table: s.table, Explain: &told}
					if where != "" {
						q.Filter = &Filter{Where: where, Table: s.table}
					}
					got, err := s.index.Search(t.Context(), q)
					must(err)
					if i == 0 {
						want = got
						continue
					}
					if !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) || got.Total != want.Total {
						t.Errorf("%q where %q by %v: %v %v, want %v %v", text, where, order, got.Docs, got.Total, want.Docs, want.Total)
					}
					if strings.Contains(told.Order, "the processor of the matches") != order.device {
						t.Errorf("%q where %q by %v: %s", text, where, order, told.Order)
					}
				}
			}
		}
	}
}
