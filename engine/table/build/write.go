package build

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"heddle/codec/wah"
	"heddle/engine/file/container"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
)

// write writes the table.
func (b *builder) write(ctx context.Context, path string, word int, columns []*planned) (err error) {
	w, err := hdb.CreateOn(cmp.Or[container.Disk](b.opt.Disk, container.OSDisk{}), path, uint32(b.rows), word, hdb.Meta{Creator: b.opt.Creator, Source: b.opt.Source})
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
	for i, c := range b.columns {
		r := &b.report[c.of]
		vectors, values := w.ColumnSize(i)
		r.VectorBytes, r.ValueBytes = r.VectorBytes+vectors, r.ValueBytes+values
	}
	return nil
}

// note adds a column that is stored to the report. The bins of a multi-valued column are of its values.
func (b *builder) note(c *planned, col *column.Column) {
	if !c.part.Behind() {
		b.report = append(b.report, ColumnReport{Name: col.Name, Type: col.Type, List: c.part == hdb.Present, Missing: col.Missing})
	}
	r := &b.report[c.of]
	r.Vectors += col.Vectors()
	if c.part == hdb.Single || c.part == hdb.Values {
		r.Type, r.Binning, r.Encoding, r.Bins = col.Type, col.Binning, col.Encoding, len(col.Bins)
	}
	if c.part == hdb.Values {
		r.Values = uint32(c.rows)
	}
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
				if err := s.make(ctx, t.of.pile, t.i, window{from, min(from+b.opt.run, t.of.c.rows)}); err != nil {
					cancel(err)
				}
				t.of.left.Done()
			}
		})
	}
	ready := make(chan *pending[W], workers()) // one for each worker, beside the column that is being written
	running.Go(func() {
		defer close(ready)
		defer close(tasks)
		for _, c := range columns {
			runs := max(1, int((c.rows+b.opt.run-1)/b.opt.run))
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
		Name: c.Name, Type: c.Type, Scale: c.stored.Scale, Binning: c.Binning, Encoding: c.Encoding, Reason: c.reason,
		Base: c.stored.Base, Unit: c.stored.Unit, Ranks: c.stored.Ranks, Missing: p.missing,
	}
	for _, bin := range p.bins {
		if bin.Rows > 0 {
			col.Bins = append(col.Bins, bin)
		}
	}
	b.note(c, &col)
	cw, err := w.PartColumn(c.part, col, c.dictionary.n, c.dictionary.all())
	if err != nil {
		return err
	}
	if err := p.encode(ctx, c.Encoding, func(words []W) error { return vector(cw, words) }); err != nil {
		return err
	}
	total := int64(0)
	for _, c := range b.columns {
		total += int64(c.rows)
	}
	return c.each(ctx, new(blockReader), window{0, c.rows}, func(codes []uint64, missing []bool) error {
		b.written += int64(len(codes))
		b.opt.Progress(Progress{Writing: true, Done: b.written, Total: total, Rows: b.rows})
		return cw.Codes(codes, missing)
	})
}
