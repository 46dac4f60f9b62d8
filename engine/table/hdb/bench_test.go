package hdb

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/file/container/containertest"
	"heddle/engine/table/column"
)

// benchTable is a column of two million rows in 64 bins, and its vectors.
func benchTable() (c column.Column, codes []uint64, vectors [][]uint32) {
	const rows, bins = 2_000_000, 64
	rng := rand.New(rand.NewPCG(1, 2))
	c = column.Column{Name: "c", Binning: column.Width, Bins: make([]column.Bin, bins)}
	var b [bins]wah.Builder[uint32]
	for row := range uint64(rows) {
		code := rng.Uint64N(bins * 100)
		codes = append(codes, code)
		bin := &c.Bins[code/100]
		if bin.Rows == 0 || code < bin.Lo {
			bin.Lo = code
		}
		bin.Hi = max(bin.Hi, code)
		bin.Rows++
		b[code/100].Add(row)
	}
	for i := range b {
		vectors = append(vectors, b[i].AppendTo(nil, rows))
	}
	return c, codes, vectors
}

func writeBench(b *testing.B, path string, c column.Column, codes []uint64, vectors [][]uint32) {
	w, err := Create(path, uint32(len(codes)), 32, Meta{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Abort()
	cw, err := w.Column(c)
	if err != nil {
		b.Fatal(err)
	}
	if err := cw.Codes(codes, nil); err != nil {
		b.Fatal(err)
	}
	for _, v := range vectors {
		if err := cw.Vector32(v); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkWriter(b *testing.B) {
	c, codes, vectors := benchTable()
	path := filepath.Join(b.TempDir(), "x.hdb")
	for b.Loop() {
		writeBench(b, path, c, codes, vectors)
	}
	b.ReportMetric(float64(len(codes))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.hdb")
	c, codes, vectors := benchTable()
	writeBench(b, path, c, codes, vectors)
	containertest.BenchmarkOpen(b, path, Open, OpenTrusted)
}
