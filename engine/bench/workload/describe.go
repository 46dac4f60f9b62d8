package workload

import (
	"fmt"
	"io"
)

// Describe prints the size of the workload in two lines.
func (w *Workload) Describe(out io.Writer) {
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
