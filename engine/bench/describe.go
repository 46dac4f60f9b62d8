package bench

import (
	"fmt"
	"io"

	"heddle/engine"
)

// engineQueries gives n queries as terms; behind the last comes the first again.
func (w *Workload) engineQueries(n int) []engine.Query {
	qs := make([]engine.Query, n)
	for i := range qs {
		if i >= len(w.Queries) {
			qs[i] = qs[i-len(w.Queries)]
			continue
		}
		for _, h := range w.Queries[i] {
			qs[i].Terms = append(qs[i].Terms, w.Terms[h])
		}
	}
	return qs
}

// describe prints what the workload is, in two lines.
func (w *Workload) describe(out io.Writer) {
	var shortest, terms uint64
	for _, q := range w.Queries {
		least := ^uint32(0)
		for _, h := range q {
			least = min(least, w.Source.Lists[h].Len)
		}
		shortest += uint64(least)
		terms += uint64(len(q))
	}
	n := float64(max(len(w.Queries), 1))
	fmt.Fprintf(out, "%s: %d documents, %d lists, %.1f M postings\n", w.Name(), w.Source.Docs, len(w.Terms), float64(w.Postings())/1e6)
	fmt.Fprintf(out, "%d distinct queries of 2 to %d terms, %.2f on average; shortest list %.0f on average\n",
		len(w.Queries), len(classShare)-1, float64(terms)/n, float64(shortest)/n)
}
