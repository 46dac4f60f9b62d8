package tables

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"heddle/codec/bitslice"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/table/column"
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
	c.order = a.Order(b)
	c.place(a, b, d.Table.Rows)
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
			buffer := new([2][bitslice.TileRows]uint64)
			for i := int(next.Add(1)-1) * tilesAtOnce; i < tiles && failed[w] == nil; i = int(next.Add(1)-1) * tilesAtOnce {
				if failed[w] = until.Err(); failed[w] == nil {
					c.run(rows, i, min(i+tilesAtOnce, tiles), buffer)
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
	order func(code, other uint64) int
	holds [3]bool // by the order, plus 1

	// places of the codes of column `placed` among the codes of the other column: 2 · the code with the same value + 1, or
	// 2 · the code of the next greater value; nil: none.
	places []uint64
	placed int

	// bounds are for four rows at a time; nil: none. A comparison by order holds, or with negate does not hold, where the
	// other code is below the bound of a code. One for equality holds where both are equal. There is room behind the
	// bounds for all places of 16 bits, which need no check.
	bounds        []uint16
	equal, negate bool
}

const (
	mostOthers = 1<<15 - 1 // greatest number of other codes: with bounds of 15 bits no subtraction of one row borrows from the next
	noOther    = mostOthers
	leastLanes = 1 << 15 // number of rows from which on bounds pay for their memory
)

// mostPlaces is the greatest number of codes with places, and fewPlaces the least number of rows for each of them.
const mostPlaces, fewPlaces = 1 << 16, 64

// place finds places for the column of fewer codes, if they are few and each is equal to one other code at most.
func (c *comparison) place(a, b *column.Column, rows uint32) {
	size := [2]uint64{codesOf(a), codesOf(b)}
	order := c.order
	if size[1] < size[0] {
		c.placed, order = 1, func(code, other uint64) int { return -c.order(other, code) }
	}
	n, others := size[c.placed], size[1-c.placed]
	if n > min(mostPlaces, uint64(rows/fewPlaces)) || others > math.MaxInt/2 {
		return
	}
	c.places = make([]uint64, n)
	for code := range c.places {
		at := sort.Search(int(others), func(x int) bool { return order(uint64(code), uint64(x)) <= 0 })
		if c.places[code] = 2 * uint64(at); at < int(others) && order(uint64(code), uint64(at)) == 0 {
			c.places[code]++
			if at+1 < int(others) && order(uint64(code), uint64(at+1)) == 0 { // integers with one nearest float
				c.places = nil
				return
			}
		}
	}
	if others <= mostOthers && rows >= leastLanes {
		c.bound()
	}
}

// bound makes bounds of the places.
func (c *comparison) bound() {
	less, equal, greater := c.holds[0], c.holds[1], c.holds[2]
	if c.placed == 1 {
		less, greater = greater, less
	}
	c.equal = less == greater
	c.negate = less
	c.bounds = make([]uint16, len(c.places)+1<<16)
	for code, place := range c.places {
		switch {
		case c.equal && place%2 == 0:
			c.bounds[code] = noOther
		case !c.equal && equal != less: // an equal code is below the bound
			c.bounds[code] = uint16((place + 1) / 2)
		default:
			c.bounds[code] = uint16(place / 2)
		}
	}
}

// codesOf is above all codes of a column.
func codesOf(c *column.Column) uint64 {
	if n := len(c.Bins); n > 0 && c.Bins[n-1].Hi < math.MaxUint64 {
		return c.Bins[n-1].Hi + 1
	}
	return math.MaxUint64
}

// run compares the rows of tiles from first to before last.
func (c *comparison) run(rows []uint64, first, last int, buffer *[2][bitslice.TileRows]uint64) {
	for tile := first; tile < last; tile++ {
		part := rows[tile*bitslice.TileWords : min((tile+1)*bitslice.TileWords, len(rows))]
		if !slices.ContainsFunc(part, func(x uint64) bool { return x != 0 }) {
			continue
		}
		if c.bounds != nil && c.byLanes(part, tile) {
			continue
		}
		for i := range buffer {
			c.codes[i].Decode(tile, &buffer[i])
		}
		if c.places != nil {
			c.byPlace(part, buffer)
		} else {
			c.values(part, buffer)
		}
	}
}

// byPlace compares the rows of a tile by the places of their codes.
func (c *comparison) byPlace(rows []uint64, buffer *[2][bitslice.TileRows]uint64) {
	last := uint64(len(c.places) - 1)
	for g := range rows {
		codes, others := (*[64]uint64)(buffer[c.placed][64*g:]), (*[64]uint64)(buffer[1-c.placed][64*g:])
		less, greater := uint64(0), uint64(0)
		for i := range codes {
			place, other := c.places[min(codes[i], last)], 2*others[i]+1
			_, below := bits.Sub64(place, other, 0)
			_, above := bits.Sub64(other, place, 0)
			less, greater = less|below<<i, greater|above<<i
		}
		if c.placed == 1 {
			less, greater = greater, less
		}
		rows[g] &= c.holding(less, greater)
	}
}

// byLanes is byPlace for four rows at a time. It returns false if the codes of the tile do not fit.
func (c *comparison) byLanes(rows []uint64, tile int) bool {
	const each, top = 0x0001000100010001, 0x8000800080008000
	var codes, others bitslice.Lanes
	of, other := c.codes[c.placed], c.codes[1-c.placed]
	if of.Tiles[tile].Min >= uint64(len(c.places)) || !of.Lanes(tile, math.MaxUint64, &codes) || !other.Lanes(tile, mostOthers, &others) {
		return false
	}
	bounds, least := (*[1 << 16]uint16)(c.bounds[of.Tiles[tile].Min:]), other.Tiles[tile].Min*each
	flip := uint64(0)
	if c.negate {
		flip = ^flip
	}
	for g := range rows {
		if rows[g] == 0 {
			continue
		}
		in := uint64(0)
		values := (*[16]uint64)(others[16*g:])
		if c.equal {
			for i, x := range (*[16]uint64)(codes[16*g:]) {
				bound := uint64(bounds[uint16(x)]) | uint64(bounds[uint16(x>>16)])<<16 | uint64(bounds[uint16(x>>32)])<<32 | uint64(bounds[x>>48])<<48
				in = in>>1 | (top-(bound^(values[i]+least)))&top // top is left where both are equal
			}
		} else {
			for i, x := range (*[16]uint64)(codes[16*g:]) {
				bound := uint64(bounds[uint16(x)]) | uint64(bounds[uint16(x>>16)])<<16 | uint64(bounds[uint16(x>>32)])<<32 | uint64(bounds[x>>48])<<48
				in = in>>1 | ((bound|top)-values[i]-(least+each))&top // top is left where the other code is below the bound
			}
		}
		rows[g] &= in ^ flip
	}
	return true
}

// holding are the rows whose order holds, of 64 rows.
func (c *comparison) holding(less, greater uint64) (in uint64) {
	if c.holds[0] {
		in |= less
	}
	if c.holds[1] {
		in |= ^(less | greater)
	}
	if c.holds[2] {
		in |= greater
	}
	return in
}

// values compares the rows of a tile by their values.
func (c *comparison) values(rows []uint64, buffer *[2][bitslice.TileRows]uint64) {
	for i, x := range rows {
		for ; x != 0; x &= x - 1 {
			row := 64*i + bits.TrailingZeros64(x)
			if !c.holds[c.order(buffer[0][row], buffer[1][row])+1] {
				rows[i] &^= x & -x
			}
		}
	}
}
