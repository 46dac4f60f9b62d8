package harness

import (
	"heddle/engine/bench/workload"
)

// Queries returns n queries as terms; after the last query of the workload the first
// follows again.
func Queries(w *workload.Workload, n int) []workload.Query {
	qs := make([]workload.Query, n)
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
