package tablebuild

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"heddle/codec/wah"
	"heddle/engine/column"
	"heddle/engine/hdb"
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
	return w.Commit()
}

// pending is a column whose vectors are being made.
type pending[W wah.Word] struct {
	c    *planned
	pile chan *pile[W] // gives one, or is closed
	err  error
}

// writeColumns makes the vectors of several columns at a time, and writes them one after
// the other.
func writeColumns[W wah.Word](ctx context.Context, b *builder, columns []*planned, w *hdb.Writer, vector func(*hdb.ColumnWriter, []W) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	ready := make(chan *pending[W], workers()) // so many beside the one that is being written
	running.Go(func() {
		defer close(ready)
		for _, c := range columns {
			x := &pending[W]{c: c, pile: make(chan *pile[W], 1)}
			select {
			case ready <- x:
			case <-ctx.Done():
				return
			}
			running.Go(func() {
				defer close(x.pile)
				var p *pile[W]
				if p, x.err = pileOf[W](ctx, b, c, []window{{0, b.rows}}); x.err == nil {
					x.pile <- p
				}
			})
		}
	})
	for x := range ready {
		p := <-x.pile
		if p == nil {
			return x.err
		}
		if err := writeColumn(ctx, b, x.c, p, w, vector); err != nil {
			return fmt.Errorf("column %q: %w", x.c.Name, err)
		}
	}
	return ctx.Err()
}

// writeColumn writes the vectors of a column, then its codes.
func writeColumn[W wah.Word](ctx context.Context, b *builder, c *planned, p *pile[W], w *hdb.Writer, vector func(*hdb.ColumnWriter, []W) error) error {
	col := column.Column{
		Name: c.Name, Type: c.Type, Binning: c.Binning, Encoding: c.Encoding,
		Base: c.base, Missing: p.missing, Dictionary: c.strings.list,
	}
	for _, bin := range p.bins {
		if bin.Rows > 0 {
			col.Bins = append(col.Bins, bin)
		}
	}
	cw, err := w.Column(col)
	if err != nil {
		return err
	}
	if err := p.encode(ctx, c.Encoding, func(words []W) error { return vector(cw, words) }); err != nil {
		return err
	}
	total := int64(b.rows) * int64(len(b.columns))
	return c.each(ctx, b.spool, []window{{0, b.rows}}, func(codes []uint64, _ []bool) error {
		b.opt.Progress(Progress{Writing: true, Done: b.values.Add(int64(len(codes))), Total: total, Rows: b.rows})
		return cw.Codes(codes)
	})
}
