package hdl

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"heddle/engine/file/container/containertest"
)

// benchSample is an index of a million documents and 18 million postings, the
// densities of its lists from 1/2 to 1/2000.
func benchSample() *sample {
	const docs = 1_000_000
	rng := rand.New(rand.NewPCG(7, 8))
	s := &sample{meta: Meta{Docs: docs, ExceptionRatio: 0.1}, names: make([]string, docs), lens: make([]uint32, docs)}
	for d := range s.names {
		s.names[d] = fmt.Sprintf("document-%07d", d)
	}
	for i := range 160 {
		mean := []uint32{2, 10, 15, 20, 40, 80, 400, 2000}[i/20]
		s.add(fmt.Sprintf("term%04d", i), random(rng, docs, rng.Uint32N(mean), mean))
	}
	return s
}

func BenchmarkOpen(b *testing.B) {
	path := benchSample().build(b)
	containertest.BenchmarkOpen(b, path, Open, OpenTrusted)
}

func BenchmarkWriter(b *testing.B) {
	s := benchSample()
	postings := 0
	for _, docs := range s.docs {
		postings += len(docs)
	}
	for _, codec := range []string{"raw", "auto"} {
		s.meta.Codec = codec
		b.Run(codec, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x.hdl")
			for b.Loop() {
				w, err := Create(path, s.meta)
				if err != nil {
					b.Fatal(err)
				}
				if err := s.write(w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(postings)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpostings/s")
		})
	}
}
