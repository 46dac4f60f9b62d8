package result

import (
	"fmt"

	"heddle/engine/plan"
	"heddle/engine/table/gather"
	"heddle/engine/table/rowset"
	"heddle/engine/table/values"
)

// perDelivery is about the number of rows of a delivered batch.
const perDelivery = 1 << 14

// perLook is the number of segments between two looks at the clock.
const perLook = 1 << 10

// projection reads columns of rows.
type projection struct {
	q       *Query
	outputs []output // columns to deliver
	opt     *Options
	set     []uint64
	columns []*gather.Column // by input
	reader  gather.Reader
	batch   gather.Batch
}

// open opens the columns of the first outputs.
func (q *Query) open(t *plan.Table, outputs int, opt *Options) (*projection, error) {
	p := &projection{q: q, outputs: q.outputs[:outputs], opt: opt}
	lists, err := q.openLists(opt)
	if err != nil {
		return nil, err
	}
	for i, in := range q.Inputs {
		var c *gather.Column
		if q.lists[i] {
			c, err = gather.OpenList(t, in, lists[i])
		} else {
			c, err = gather.Open(t, in)
		}
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", in.Column, err)
		}
		p.columns = append(p.columns, c)
	}
	return p, nil
}

// Rows returns the values of rows, in any order, of a query that is not Grouped and has no order. It looks at the clock
// every perDelivery rows.
func (q *Query) Rows(t *plan.Table, rows []uint32, opt Options) (all values.Batch, err error) {
	p, err := q.open(t, q.shown, &opt)
	if err != nil {
		return nil, err
	}
	for first := true; first || len(rows) > 0; first = false {
		if err := p.ended(); err != nil {
			return nil, err
		}
		part := rows[:min(len(rows), perDelivery)]
		b, err := p.read(part, func(c *gather.Column, codes []uint64) error { return c.At(part, codes) })
		if err != nil {
			return nil, err
		}
		if rows = rows[len(part):]; all == nil {
			all = b
		} else {
			all.Append(b)
		}
	}
	return all, nil
}

// project passes the first outputs of the selected rows to deliver.
func (q *Query) project(t *plan.Table, set []uint64, outputs int, opt *Options, deliver func(values.Batch) error) error {
	p, err := q.open(t, outputs, opt)
	if err != nil {
		return err
	}
	p.set = set
	if len(q.order) > 0 {
		return p.ordered(deliver)
	}
	first, end := opt.end(uint64(rowset.Count(set)))
	if first == end {
		return p.none(deliver)
	}
	var pending values.Batch
	err = p.batches(set, 0, gather.Segments(set), func(in *gather.Batch) (bool, error) {
		n := uint64(len(in.Rows))
		from, to := min(first, n), min(end, n)
		first, end = first-from, end-to
		if from == to {
			return end > 0, nil
		}
		b, err := p.read(in.Rows, func(c *gather.Column, codes []uint64) error { return p.reader.Read(c, in, codes) })
		if err != nil {
			return false, err
		}
		if b = b.Cut(int(from), int(to)); pending == nil {
			pending = b
		} else {
			pending.Append(b)
		}
		if pending.Len() >= perDelivery {
			err, pending = deliver(pending), nil
		}
		return end > 0, err
	})
	switch {
	case err != nil:
		return err
	case pending != nil:
		return deliver(pending)
	}
	return nil
}

// none delivers a batch without rows.
func (p *projection) none(deliver func(values.Batch) error) error {
	b, err := p.read(nil, func(*gather.Column, []uint64) error { return nil })
	if err != nil {
		return err
	}
	return deliver(b)
}

// ended returns the error of Options.Ended.
func (p *projection) ended() error {
	if p.opt.Ended == nil {
		return nil
	}
	return p.opt.Ended()
}

// batches calls f with batches of the rows of a set, in segments from i to end-1, until it returns false.
func (p *projection) batches(set []uint64, i, end int, f func(*gather.Batch) (more bool, err error)) error {
	b := &p.batch
	for i < end {
		if err := p.ended(); err != nil {
			return err
		}
		if i = b.Fill(set, i, min(end, i+perLook)); len(b.Rows) == 0 {
			continue
		}
		if more, err := f(b); err != nil || !more {
			return err
		}
	}
	return nil
}

// read reads the columns of rows with a function for their codes.
func (p *projection) read(rows []uint32, codes func(*gather.Column, []uint64) error) (values.Batch, error) {
	b := make(values.Batch, len(p.outputs))
	for k, o := range p.outputs {
		c := values.Column{Column: *o.of.Stored()}
		c.Name = o.name
		of := p.columns[o.input]
		if of.Multivalued() {
			var err error
			if c.Codes, c.Starts, err = p.reader.Lists(of, rows, nil, []uint32{0}); err != nil {
				return nil, fmt.Errorf("column %q: %w", o.of.Name, err)
			}
			b[k] = c
			continue
		}
		c.Codes = make([]uint64, len(rows))
		if err := codes(of, c.Codes); err != nil {
			return nil, fmt.Errorf("column %q: %w", o.of.Name, err)
		}
		for i, row := range rows {
			if of.Missing(row) {
				c.Codes[i] = 0
				c.SetNull(i)
			}
		}
		b[k] = c
	}
	return b, nil
}
