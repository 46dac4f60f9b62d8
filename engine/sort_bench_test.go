package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/index/build"
	"heddle/engine/internal/cputime"
	tablebuild "heddle/engine/table/build"
	read "heddle/engine/table/read/csv"
)

// BenchmarkOrdered measures the CPU time of the best ten of 400,000 documents of 20 words of a Zipf distribution: by score
// alone, and with groups, a boost, a least score, a second page and an order by two keys.
func BenchmarkOrdered(b *testing.B) {
	const docs = 400_000
	r := rand.New(rand.NewPCG(41, 4))
	zipf := rand.NewZipf(r, 1.1, 8, 50_000)
	var texts, rows strings.Builder
	rows.WriteString("year,site\n")
	for i := range docs {
		fmt.Fprintf(&texts, "d%d\t", i)
		for range 20 {
			fmt.Fprintf(&texts, "w%d ", zipf.Uint64())
		}
		texts.WriteByte('\n')
		fmt.Fprintf(&rows, "%d,%d\n", 1990+r.IntN(30), zipf.Uint64())
	}
	dir := b.TempDir()
	input, file, attributes := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "x.hdl"), filepath.Join(dir, "x.hdb")
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	must(os.WriteFile(input, []byte(texts.String()), 0o644))
	_, err := build.Build(b.Context(), file, []string{input}, build.Options{Format: build.Text})
	must(err)
	src, err := read.Open(b.Context(), []string{"-"}, read.Options{Stdin: strings.NewReader(rows.String())})
	must(err)
	defer src.Close()
	_, err = tablebuild.Build(b.Context(), src, attributes, tablebuild.Options{})
	must(err)
	e := tableEngine(b, backendOptions(b))
	x, err := e.OpenIndex(b.Context(), file, IndexOptions{})
	must(err)
	table, err := e.OpenTable(b.Context(), attributes, TableOptions{})
	must(err)
	for _, c := range []struct {
		name string
		q    Query
		page int
	}{
		{"score", Query{}, 1}, {"collapse", Query{Collapse: "site"}, 1}, {"few groups", Query{Collapse: "year", CollapseLimit: 3}, 1},
		{"boost", Query{Boost: &Boost{Column: "year", From: "1990", To: "2020", Weight: 0.5}}, 1},
		{"least score", Query{MinScore: 2, Total: TotalExact}, 1}, {"score and year", Query{Sort: []string{"score", "year desc"}}, 1},
		{"page 3 by score", Query{}, 3}, {"page 3 by year", Query{Sort: []string{"year desc", "score"}}, 3},
	} {
		b.Run(c.name, func(b *testing.B) {
			var at []Query
			for i := range 50 {
				q := c.q
				q.K, q.Table, q.Fresh, q.Text = 10, table, true, fmt.Sprintf("w%d w%d", 3+i, 20+i*7)
				for page := 1; page < c.page; page++ {
					if q.After == "" {
						q.After = FirstPage
					}
					h, err := x.Search(b.Context(), q)
					must(err)
					q.After = h.After
				}
				at = append(at, q)
			}
			n, began := 0, cputime.Total()
			for b.Loop() {
				_, err := x.Search(b.Context(), at[n%len(at)])
				must(err)
				n++
			}
			b.ReportMetric(float64((cputime.Total()-began).Nanoseconds())/1e3/float64(b.N), "cpu-us/query")
		})
	}
}
