// Package build makes bitmap tables (.hdb) of what a read.Source gives.
//
// It reads the source once, puts the keys of each column into a temporary file and
// samples them; chooses the bins; then makes vectors and stored values of each column,
// several columns at a time. Memory does not grow with rows, but for the dictionaries of
// strings. The same source and options give the same bytes, whatever the memory limit
// and the number of cores are.
package build

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"heddle/codec/wah"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// builder is a build under way.
type builder struct {
	opt     Options
	spool   *temp
	columns []*collected
	rows    uint64
	strings atomic.Uint64 // bytes of dictionaries
	held    atomic.Uint64 // bytes of vectors in memory
	written int64         // values
}

// Build reads src to its end and writes the table to path, where it appears when all is
// done; an error, or that ctx is done, leaves nothing behind. The caller closes src.
func Build(ctx context.Context, src read.Source, path string, opt Options) (r Report, err error) {
	b := &builder{}
	if b.opt, err = opt.complete(path, src.Fields()); err != nil {
		return r, err
	}
	if b.spool, err = newTemp(b.opt.TempDir); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.spool.Close()) }()

	start := time.Now()
	if err := b.collect(ctx, src); err != nil {
		return r, err
	}
	read := time.Now()
	columns, err := b.planAll()
	if err != nil {
		return r, err
	}
	word, err := b.word(ctx, columns)
	if err != nil {
		return r, err
	}
	if err := b.write(ctx, path, word, columns); err != nil {
		return r, err
	}
	r = Report{Rows: uint32(b.rows), Word: word, TempBytes: b.spool.size}
	r.InputBytes, _ = src.Progress()
	r.Read, r.Write = read.Sub(start), time.Since(read)
	return r, r.measure(path)
}

// planAll chooses the bins of all columns.
func (b *builder) planAll() ([]*planned, error) {
	columns, failed := make([]*planned, len(b.columns)), make([]error, len(b.columns))
	parallel(len(b.columns), func(i int) { columns[i], failed[i] = b.plan(b.columns[i]) })
	for i, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", b.columns[i].Name, err)
		}
	}
	return columns, nil
}

// What the size of words is chosen by: so many windows of the rows, of so many rows, in
// whole groups.
const (
	sampleWindows = 8
	sampleRows    = 8 * groupRows
)

// word chooses the size of words, in bits.
func (b *builder) word(ctx context.Context, columns []*planned) (int, error) {
	if b.opt.Word != 0 {
		return b.opt.Word, nil
	}
	windows := []window{{0, b.rows}}
	if b.rows > sampleWindows*sampleRows {
		windows = nil
		for i := range uint64(sampleWindows) {
			from := i * (b.rows - sampleRows) / (sampleWindows - 1)
			windows = append(windows, window{from, from + sampleRows})
		}
	}
	failed := make([]error, 2*len(columns))
	var narrow, wide atomic.Uint64
	parallel(len(failed), func(i int) {
		if c := columns[i/2]; i%2 == 0 {
			failed[i] = addSize[uint32](ctx, b, c, windows, &narrow)
		} else {
			failed[i] = addSize[uint64](ctx, b, c, windows, &wide)
		}
	})
	if err := errors.Join(failed...); err != nil {
		return 0, err
	}
	if 20*wide.Load() <= 21*narrow.Load() {
		return 64, nil
	}
	return 32, nil
}

// addSize adds the number of bytes of the vectors of a column, by the rows of windows.
func addSize[W wah.Word](ctx context.Context, b *builder, c *planned, windows []window, bytes *atomic.Uint64) error {
	p := newPile[W](b, c, len(windows))
	defer p.release()
	var s sorter[W]
	for i, w := range windows {
		if err := s.make(ctx, p, i, w); err != nil {
			return err
		}
	}
	return p.encode(ctx, c.Encoding, func(words []W) error {
		bytes.Add(uint64(len(words)) * (wah.GroupBits[W]() + 1) / 8)
		return nil
	})
}

// measure fills in what the table says of itself.
func (r *Report) measure(path string) error {
	f, err := hdb.OpenTrusted(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r.FileBytes = f.Size()
	for i, c := range f.Columns() {
		vectors, values := f.ColumnSize(i)
		r.Columns = append(r.Columns, ColumnReport{
			Name: c.Name, Type: c.Type, Binning: c.Binning, Encoding: c.Encoding, Bins: len(c.Bins),
			Vectors: c.Vectors(), Missing: c.Missing, VectorBytes: uint64(vectors), ValueBytes: uint64(values),
		})
	}
	return nil
}
