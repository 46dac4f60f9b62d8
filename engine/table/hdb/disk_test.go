package hdb

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/plan/testneeds"
	"heddle/engine/table/column"
)

// TestWriterMemory sees that a writer's memory does not grow with rows.
func TestWriterMemory(t *testing.T) {
	const rows = 40 << 20
	w, err := Create(filepath.Join(t.TempDir(), "x.hdb"), rows, 32, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	c, err := w.Column(column.Column{Name: "c", Binning: column.Width, Bins: []column.Bin{{Hi: 1 << 33, Rows: rows}}})
	if err != nil {
		t.Fatal(err)
	}
	codes := make([]uint64, 1<<16)
	for i := range codes {
		codes[i] = uint64(i % 3)
	}
	codes[5] = 1 << 33
	var before uint64
	for i := range 240 {
		if i == 40 { // most buffers are full
			before = containertest.Heap()
		}
		if err := c.Codes(codes, nil); err != nil {
			t.Fatal(err)
		}
	}
	// The last 200 calls have 13 million codes, in 3,200 tiles.
	if after := containertest.Heap(); after > before+500_000 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	runtime.KeepAlive(codes)
}

// TestPowerCuts replaces a table on a disk that loses its power.
func TestPowerCuts(t *testing.T) {
	x, old := second(), tiny()
	containertest.PowerCuts(t, old.build(t), func(d container.Disk, path string) error {
		w, err := CreateOn(d, path, x.rows, x.word, x.meta)
		if err != nil {
			return err
		}
		return errors.Join(x.write(w), w.Abort())
	})
}

// TestFaults lets every single operation on the disk fail once.
func TestFaults(t *testing.T) {
	testneeds.Long(t)
	x, old := newLong(), tiny()
	path := old.build(t)
	containertest.Faults(t, path, 12, func(d container.Disk) error {
		w, err := CreateOn(d, path, x.rows, 32, Meta{})
		if err != nil {
			return err
		}
		return errors.Join(x.write(w), w.Abort())
	}, func(written bool) {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]uint32{false: old.rows, true: x.rows}[written]; f.Rows() != want {
			t.Errorf("%d rows, want %d", f.Rows(), want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// long is a table of one column whose vectors take more than the buffer of a spool, so
// that calls before Commit write as well.
type long struct {
	rows    uint32
	column  column.Column
	codes   []uint64
	vectors [][]uint32
}

func newLong() *long {
	const bins = 32
	x := &long{rows: 288_000, column: column.Column{Name: "c", Binning: column.Width}}
	var b [bins]wah.Builder[uint32]
	for row := range uint64(x.rows) {
		x.codes = append(x.codes, row%bins<<28)
		b[row%bins].Add(row)
	}
	for i := range uint64(bins) {
		x.column.Bins = append(x.column.Bins, column.Bin{Lo: i << 28, Hi: i << 28, Rows: x.rows / bins})
		x.vectors = append(x.vectors, b[i].AppendTo(nil, uint64(x.rows)))
	}
	return x
}

func (x *long) write(w *Writer) error {
	c, err := w.Column(x.column)
	if err != nil {
		return err
	}
	if err := c.Codes(x.codes, nil); err != nil {
		return err
	}
	for _, v := range x.vectors {
		if err := c.Vector32(v); err != nil {
			return err
		}
	}
	return w.Commit()
}
