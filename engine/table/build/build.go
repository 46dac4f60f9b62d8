// Package build writes bitmap tables (.hdb) from a read.Source.
//
// It reads the source once, writes the keys of each column to a temporary file and
// samples them. It numbers the texts of a column in memory; when Options.Memory is full, it
// writes them in order as a generation, and numbers the following texts anew. Then it merges
// the generations into the dictionary, replaces numbers by places in the dictionary, chooses the
// codes and bins, and builds the vectors and stored values of several columns at a time. Memory does
// not grow with the rows, except for three vectors of a column, descriptions of blocks of
// rows, and 4 bytes for each text of a generation. The same source and options give the same bytes, for every
// memory limit and number of cores.
package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"heddle/engine/table/read"
)

// builder is a running build.
type builder struct {
	opt     Options
	spool   *temp
	columns []*collected
	rows    uint64
	held    atomic.Uint64 // bytes of vectors in memory
	written int64         // values
	report  []ColumnReport
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
	columns, err := b.planAll(ctx)
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
	table, err := os.Stat(path)
	if err != nil {
		return r, err
	}
	r = Report{
		Rows: uint32(b.rows), Word: word, Columns: b.report, Invalid: src.Invalid(),
		FileBytes: table.Size(), TempBytes: b.spool.size,
	}
	r.InputBytes, _ = src.Progress()
	r.Read, r.Write = read.Sub(start), time.Since(read)
	return r, nil
}

// planAll chooses the codes and bins of all columns.
func (b *builder) planAll(ctx context.Context) ([]*planned, error) {
	columns, failed := make([]*planned, len(b.columns)), make([]error, len(b.columns))
	read.Parallel(len(b.columns), func(i int) { columns[i], failed[i] = b.plan(ctx, b.columns[i]) })
	for i, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", b.columns[i].Name, err)
		}
	}
	return columns, nil
}
