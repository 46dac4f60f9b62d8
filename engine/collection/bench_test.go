package collection

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkAdd adds 500 documents of 20 words, in batches, with the merges that follow.
func BenchmarkAdd(b *testing.B) {
	_, w := create(b, options(nil))
	r := rand.New(rand.NewPCG(1, 2))
	docs := 0
	for b.Loop() {
		var all []document
		for range 500 {
			var words []string
			for range 20 {
				words = append(words, fmt.Sprint("w", int(r.ExpFloat64()*500)))
			}
			all = append(all, document{fmt.Sprint("d", docs), strings.Join(words, " ")})
			docs++
		}
		_, err := add(w, all)
		must(b, err)
		must(b, w.Maintain(b.Context()))
	}
	b.ReportMetric(float64(w.written)/float64(docs), "writes/doc")
}
