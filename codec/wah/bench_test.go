package wah

import (
	"slices"
	"testing"
)

// benchRows is the number of rows of the vectors of benchmarks. benchShapes are their
// shapes: the Zipf tables of the paper (ten bins, skew 0 and 2) and sorted data.
const benchRows = 1 << 22

var benchShapes = []string{"p=0.1", "p=0.645", "p=0.0065", "runs"}

func benchShape[W Word](seed uint64, name string) (set []uint64, words []W) {
	i := slices.IndexFunc(shapes, func(s shape) bool { return s.name == name })
	set = shapes[i].plain(seed, benchRows)
	return set, build[W](set, benchRows)
}

func BenchmarkOrInto(b *testing.B) {
	b.Run("wah32", benchOrInto[uint32])
	b.Run("wah64", benchOrInto[uint64])
}

func benchOrInto[W Word](b *testing.B) {
	const tile = 2048
	for _, name := range benchShapes {
		_, words := benchShape[W](1, name)
		b.Run(name, func(b *testing.B) {
			acc := make([]W, tile)
			groups := Groups[W](benchRows)
			for b.Loop() {
				p := Position{}
				for at := uint64(0); at < groups; at += tile {
					p = OrInto(acc, words, p)
				}
			}
			n := float64(b.N) * 1e-9 / b.Elapsed().Seconds()
			b.ReportMetric(float64(len(words))*n, "Gwords/s")
			b.ReportMetric(float64(groups)*n, "Ggroups/s")
		})
	}
}

func BenchmarkOr(b *testing.B) {
	b.Run("wah32", benchOr[uint32])
	b.Run("wah64", benchOr[uint64])
}

func benchOr[W Word](b *testing.B) {
	for _, name := range benchShapes {
		_, x := benchShape[W](1, name)
		_, y := benchShape[W](2, name)
		b.Run(name, func(b *testing.B) {
			var dst []W
			for b.Loop() {
				dst = Or(dst[:0], x, y)
			}
			b.ReportMetric(float64(len(x)+len(y))*float64(b.N)*1e-9/b.Elapsed().Seconds(), "Gwords/s")
		})
	}
}

func BenchmarkCompress(b *testing.B) {
	b.Run("wah32", benchCompress[uint32])
	b.Run("wah64", benchCompress[uint64])
}

func benchCompress[W Word](b *testing.B) {
	for _, name := range benchShapes {
		set, words := benchShape[W](1, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(8 * len(set)))
			for b.Loop() {
				words = Compress(words[:0], set, benchRows)
			}
		})
		b.Run(name+"/decompress", func(b *testing.B) {
			b.SetBytes(int64(8 * len(set)))
			for b.Loop() {
				if err := Decompress(set, words, benchRows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
