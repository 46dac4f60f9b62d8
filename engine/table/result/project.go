package result

import (
	"fmt"
	"slices"

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
}

// project passes the first outputs of the selected rows to deliver.
func (q *Query) project(t *plan.Table, set []uint64, outputs int, opt *Options, deliver func(values.Batch) error) error {
	p := projection{q: q, outputs: q.outputs[:outputs], opt: opt, set: set}
	lists, err := q.openLists(opt)
	if err != nil {
		return err
	}
	for i, in := range q.Inputs {
		var c *gather.Column
		if q.lists[i] {
			c, err = gather.OpenList(t, in, lists[i])
		} else {
			c, err = gather.Open(t, in)
		}
		if err != nil {
			return fmt.Errorf("column %d: %w", in.Column, err)
		}
		p.columns = append(p.columns, c)
	}
	if len(q.order) > 0 {
		return p.ordered(deliver)
	}
	first, end := opt.end(uint64(rowset.Count(set)))
	if first == end {
		return p.none(deliver)
	}
	var pending values.Batch
	err = p.batches(func(in *gather.Batch) (bool, error) {
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

// batches calls f with batches of the selected rows until it returns false.
func (p *projection) batches(f func(*gather.Batch) (more bool, err error)) error {
	var b gather.Batch
	for i, end := 0, gather.Segments(p.set); i < end; {
		if p.opt.Ended != nil {
			if err := p.opt.Ended(); err != nil {
				return err
			}
		}
		if i = b.Fill(p.set, i, min(end, i+perLook)); len(b.Rows) == 0 {
			continue
		}
		if more, err := f(&b); err != nil || !more {
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

// candidate is a row that may be in the result, with its codes of the keys.
type candidate struct {
	row  uint32
	keys []uint64 // two words for each key; smaller keys come first
}

func (a candidate) compare(b candidate) int {
	if d := slices.Compare(a.keys, b.keys); d != 0 {
		return d
	}
	return int(int64(a.row) - int64(b.row))
}

// ordered passes rows in the order of the query. It keeps at most twice as many candidates as
// the result has rows.
func (p *projection) ordered(deliver func(values.Batch) error) error {
	most := 0 // candidates that count; 0: all
	if n := p.opt.Offset + p.opt.Limit; p.opt.Limit > 0 && n >= p.opt.Limit && n < 1<<31 {
		most = int(n)
	}
	var best []candidate
	worst := candidate{} // the last of the best so far, if keys is not nil
	err := p.batches(func(in *gather.Batch) (bool, error) {
		keys, err := p.keys(in)
		if err != nil {
			return false, err
		}
		n := 2 * len(p.q.order)
		for i, row := range in.Rows {
			c := candidate{row, keys[i*n : (i+1)*n]}
			if worst.keys != nil && c.compare(worst) > 0 {
				continue
			}
			if most > 0 { // most of the batch is dropped
				c.keys = slices.Clone(c.keys)
			}
			if best = append(best, c); most > 0 && len(best) == 2*most {
				slices.SortFunc(best, candidate.compare)
				best, worst = best[:most], best[most-1]
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(best, candidate.compare)
	first, end := p.opt.end(uint64(len(best)))
	if first == end {
		return p.none(deliver)
	}
	for part := range slices.Chunk(best[first:end], perDelivery) {
		if err := p.deliver(part, deliver); err != nil {
			return err
		}
	}
	return nil
}

// keys are the keys of the rows of a batch.
func (p *projection) keys(in *gather.Batch) ([]uint64, error) {
	n := 2 * len(p.q.order)
	keys := make([]uint64, n*len(in.Rows))
	codes := make([]uint64, len(in.Rows))
	for k, by := range p.q.order {
		of := p.columns[p.q.outputs[by.output].input]
		if err := p.reader.Read(of, in, codes); err != nil {
			return nil, err
		}
		for i, row := range in.Rows {
			key := keys[i*n+2*k:][:2]
			switch missing := of.Missing(row); {
			case missing && !by.missingFirst:
				key[0] = 2
			case missing:
			case by.descending:
				key[0], key[1] = 1, ^codes[i]
			default:
				key[0], key[1] = 1, codes[i]
			}
		}
	}
	return keys, nil
}

// deliver passes candidates in their order.
func (p *projection) deliver(list []candidate, deliver func(values.Batch) error) error {
	rows := make([]uint32, len(list))
	for i, c := range list {
		rows[i] = c.row
	}
	b, err := p.read(rows, func(c *gather.Column, codes []uint64) error { return c.At(rows, codes) })
	if err != nil {
		return err
	}
	return deliver(b)
}
