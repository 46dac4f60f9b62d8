// Package build writes bitmap tables (.hdb) from a read.Source.
//
// It reads the source once, writes the keys of each column to a temporary file and
// samples them. Then it chooses the bins and builds the vectors and stored values of
// several columns at a time. Memory does not grow with the rows, except for the
// dictionaries of strings. The same source and options give the same bytes, for every
// memory limit and number of cores.
package build

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

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
	word, err := b.shape(ctx, columns)
	if err != nil {
		return r, err
	}
	if err := b.write(ctx, path, word, columns); err != nil {
		return r, err
	}
	r = Report{Rows: uint32(b.rows), Word: word, Invalid: src.Invalid(), TempBytes: b.spool.size}
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

// measure reads the sizes from the finished table.
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
