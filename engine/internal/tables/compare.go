package tables

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/codec/bitslice"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/table/predicate"
	"heddle/engine/table/rowset"
)

// compared is a selection of a task whose predicate has a Set: it compares columns, or tests multi-valued
// ones.
type compared struct {
	selection int
	*Predicate
}

// split makes the selections of p its parts, and leaves an empty one in their place.
func (d *Data) split(p *Predicate) {
	for i := range p.Steps.Len() {
		part := &Predicate{}
		part.Steps.Copy(&p.Steps, p.Steps.Selection(i))
		part.Steps.End()
		of := d
		if c := p.Plan.Of[i]; c != predicate.OfTable {
			of = d.lists[c].Data
		}
		of.measure(part)
		p.parts = append(p.parts, part)
	}
	p.Steps.Reset()
	p.Steps.End()
}

// compare makes the rows of a predicate with a Set, in the place of an empty
// selection.
func (t *Task) compare(ctx context.Context, c compared) error {
	began, stats := time.Now(), t.rows.Stats
	rows, err := t.set(ctx, c.Predicate, c.Plan.Set, rowset.All(t.kind.g.Table.Rows))
	if err != nil {
		return err
	}
	t.rows.Counts[c.selection] = uint32(rowset.Count(rows))
	t.rows.Stats.Queries, t.rows.Stats.Wall = stats.Queries, stats.Wall+time.Since(began)
	if t.kind.output == plan.OutputBits {
		copy(t.rows.Selection(c.selection), rows)
	}
	return nil
}

// set returns the rows of s that are in rows, whose memory it takes.
func (t *Task) set(ctx context.Context, p *Predicate, s *predicate.Set, rows []uint64) (_ []uint64, err error) {
	switch s.Op {
	case predicate.Selected:
		return rows, t.selectPart(ctx, t.kind.g, p.parts[s.Selection], func(set []uint64) {
			for i, bits := range set {
				rows[i] &= bits
			}
		})
	case predicate.Valued:
		return rows, t.valued(ctx, p, s, rows)
	case predicate.Compared:
		until := limit.Until{Context: ctx, Deadline: t.job.Deadline}
		return rows, t.kind.g.compareColumns(&until, s, rows)
	case predicate.Both:
		for i := range s.Args {
			if rows, err = t.set(ctx, p, &s.Args[i], rows); err != nil {
				return nil, err
			}
		}
		return rows, nil
	}
	var found []uint64
	for i := range s.Args {
		left := make([]uint64, len(rows))
		copy(left, rows)
		if left, err = t.set(ctx, p, &s.Args[i], left); err != nil {
			return nil, err
		}
		if found == nil {
			found = make([]uint64, len(rows))
		}
		for k, x := range left {
			found[k] |= x
			rows[k] &^= x
		}
	}
	return found, nil
}

// selectPart passes the rows of a selection on g to f, which must not keep them.
func (t *Task) selectPart(ctx context.Context, g *Generation, part *Predicate, f func(rows []uint64)) (err error) {
	x := g.NewTask(plan.OutputBits, t.kind.strategy, t.kind.rescan)
	defer func() { x.Done(err) }()
	x.Add(part)
	x.job.Caller, x.job.Mode, x.job.Deadline = t.job.Caller, t.job.Mode, t.job.Deadline
	if err = g.pool.Do(ctx, &x.job); err != nil {
		return err
	}
	f(x.rows.Selection(0))
	t.rows.Stats.Add(x.rows.Stats)
	return nil
}

// compareColumns removes the rows whose values of two columns are in another order.
func (d *Data) compareColumns(until *limit.Until, s *predicate.Set, rows []uint64) error {
	a, b := &d.Columns[s.A], &d.Columns[s.B]
	c := comparison{holds: [3]bool{s.By.Holds(-1), s.By.Holds(0), s.By.Holds(1)}}
	var ok bool
	if c.base[0], c.base[1], ok = a.Shifts(b); !ok {
		c.order = a.Order(b)
	}
	for i, column := range []int{s.A, s.B} {
		var err error
		if c.codes[i], err = d.Table.Codes(uint32(column)); err != nil {
			return err
		}
	}
	tiles := len(c.codes[0].Tiles)
	workers := min(tiles, runtime.GOMAXPROCS(0))
	failed := make([]error, workers)
	var next atomic.Int64
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			defer mapped.Catch(mapped.Watch(), &failed[w])
			var buffer [2][bitslice.SegmentRows]uint64
			for i := int(next.Add(1)-1) * tilesAtOnce; i < tiles && failed[w] == nil; i = int(next.Add(1)-1) * tilesAtOnce {
				if failed[w] = until.Err(); failed[w] == nil {
					c.run(rows, i, min(i+tilesAtOnce, tiles), &buffer)
				}
			}
		})
	}
	running.Wait()
	err := errors.Join(failed...)
	if errors.Is(err, schedule.ErrDeadline) {
		return fmt.Errorf("%w while columns were compared: %w", schedule.ErrDeadline, context.DeadlineExceeded)
	}
	return err
}

// tilesAtOnce is the number of tiles that a goroutine compares at a time.
const tilesAtOnce = 16

// comparison compares the codes of two columns.
type comparison struct {
	codes [2]bitslice.Column
	order func(code, other uint64) int // nil: the order of base + code
	base  [2]uint64
	holds [3]bool // by the order, plus 1
}

// run compares the rows of tiles from first to before last.
func (c *comparison) run(rows []uint64, first, last int, buffer *[2][bitslice.SegmentRows]uint64) {
	for tile := first; tile < last; tile++ {
		part := rows[tile*bitslice.TileWords : min((tile+1)*bitslice.TileWords, len(rows))]
		if !slices.ContainsFunc(part, func(x uint64) bool { return x != 0 }) {
			continue
		}
		if c.order == nil {
			c.slices(part, tile)
			continue
		}
		for from := 0; from < len(part); from += len(buffer[0]) / 64 {
			c.values(part[from:min(from+len(buffer[0])/64, len(part))], tile*tileSegments+from*64/len(buffer[0]), buffer)
		}
	}
}

const tileSegments = bitslice.TileRows / bitslice.SegmentRows

// values compares the rows of a segment by their values.
func (c *comparison) values(rows []uint64, segment int, buffer *[2][bitslice.SegmentRows]uint64) {
	if !slices.ContainsFunc(rows, func(x uint64) bool { return x != 0 }) {
		return
	}
	for i := range buffer {
		c.codes[i].Segment(segment, &buffer[i])
	}
	for i, x := range rows {
		for ; x != 0; x &= x - 1 {
			row := 64*i + bits.TrailingZeros64(x)
			if !c.holds[c.order(buffer[0][row], buffer[1][row])+1] {
				rows[i] &^= x & -x
			}
		}
	}
}

// slices compares the rows of a tile by their bit slices.
func (c *comparison) slices(rows []uint64, tile int) {
	var less, greater bitslice.Set
	c.codes[0].Order(c.codes[1], tile, c.base[0], c.base[1], &less, &greater)
	for g := range rows {
		in := uint64(0)
		if c.holds[0] {
			in |= less[g]
		}
		if c.holds[1] {
			in |= ^(less[g] | greater[g])
		}
		if c.holds[2] {
			in |= greater[g]
		}
		rows[g] &= in
	}
}
