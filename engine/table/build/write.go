package build

import (
	"context"
	"errors"
	"sync"

	"heddle/codec/wah"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
)

// write writes the table.
func (b *builder) write(ctx context.Context, path string, word int, columns []*planned) (err error) {
	w, err := hdb.Create(path, uint32(b.rows), word, hdb.Meta{Creator: b.opt.Creator, Source: b.opt.Source})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Abort()) }() // does nothing after Commit
	if word == 32 {
		err = writeColumns(ctx, b, columns, w, (*hdb.ColumnWriter).Vector32)
	} else {
		err = writeColumns(ctx, b, columns, w, (*hdb.ColumnWriter).Vector64)
	}
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	for i := range b.report {
		c := &b.report[i]
		c.VectorBytes, c.ValueBytes = w.ColumnSize(i)
	}
	return nil
}

// pending is a column whose vectors are being made.
type pending[W wah.Word] struct {
	*pile[W]
	left sync.WaitGroup // runs
}

// writeColumns builds the vectors of several columns at a time, on all cores, and writes
// the columns in order.
func writeColumns[W wah.Word](ctx context.Context, b *builder, columns []*planned, w *hdb.Writer, vector func(*hdb.ColumnWriter, []W) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	type task struct {
		of *pending[W]
		i  int // run
	}
	tasks := make(chan task)
	for range workers() {
		running.Go(func() {
			var s sorter[W]
			for t := range tasks {
				from := uint64(t.i) * b.opt.run
				if err := s.make(ctx, t.of.pile, t.i, window{from, min(from+b.opt.run, b.rows)}); err != nil {
					cancel(err)
				}
				t.of.left.Done()
			}
		})
	}
	ready := make(chan *pending[W], workers()) // so many beside the one that is being written
	running.Go(func() {
		defer close(ready)
		defer close(tasks)
		runs := max(1, int((b.rows+b.opt.run-1)/b.opt.run))
		for _, c := range columns {
			x := &pending[W]{pile: newPile[W](b, c, runs)}
			x.left.Add(runs)
			select {
			case ready <- x:
			case <-ctx.Done():
				return
			}
			for i := range runs {
				tasks <- task{x, i}
			}
		}
	})
	for x := range ready {
		x.left.Wait()
		if ctx.Err() != nil {
			break
		}
		if err := writeColumn(ctx, b, x.pile, w, vector); err != nil {
			return err
		}
		x.release()
	}
	return context.Cause(ctx)
}

// writeColumn writes the vectors of a column, then its codes.
func writeColumn[W wah.Word](ctx context.Context, b *builder, p *pile[W], w *hdb.Writer, vector func(*hdb.ColumnWriter, []W) error) error {
	c := p.c
	col := column.Column{
		Name: c.Name, Type: c.Type, Scale: c.scale, Binning: c.Binning, Encoding: c.Encoding,
		Base: c.base, Missing: p.missing,
	}
	for _, bin := range p.bins {
		if bin.Rows > 0 {
			col.Bins = append(col.Bins, bin)
		}
	}
	b.report = append(b.report, ColumnReport{
		Name: col.Name, Type: col.Type, Binning: col.Binning, Encoding: col.Encoding,
		Bins: len(col.Bins), Vectors: col.Vectors(), Missing: col.Missing,
	})
	cw, err := w.LongColumn(col, c.dictionary.n, c.dictionary.all())
	if err != nil {
		return err
	}
	if err := p.encode(ctx, c.Encoding, func(words []W) error { return vector(cw, words) }); err != nil {
		return err
	}
	total := int64(b.rows) * int64(len(b.columns))
	return c.each(ctx, new(blockReader), window{0, b.rows}, func(codes []uint64, _ []bool) error {
		b.written += int64(len(codes))
		b.opt.Progress(Progress{Writing: true, Done: b.written, Total: total, Rows: b.rows})
		return cw.Codes(codes)
	})
}
