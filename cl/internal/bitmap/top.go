package bitmap

import (
	"context"
	"fmt"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// Limits of the rows of an Order.
const (
	mostTied   = 1 << 20 // rows with the codes of row K
	mostRaises = 16      // times that a bound is raised
)

// First implements plan.Sorter. A pass over all rows finds the greatest key of each unit of rows, which bounds the key of
// row K from below; the rows above and at the bound come back. If too many are at it, the next key decides
// among them, or their number.
func (s *Store) First(ctx context.Context, sel *plan.SelectBatch, with plan.Filter, o *plan.Order) (*plan.First, error) {
	if sel.Len() != 1 {
		return nil, fmt.Errorf("the first rows of %d selections, want 1", sel.Len())
	}
	if err := s.check(ctx, sel); err != nil {
		return nil, err
	}
	if err := o.Validate(s.t); err != nil {
		return nil, err
	}
	if err := filter.Check([]plan.Filter{with}, s.rt, s.t.Rows); err != nil {
		return nil, err
	}
	if err := selfTestTop(ctx, s.rt); err != nil {
		return nil, err
	}
	return s.first(ctx, sel, with, o)
}

// first is First without a check of its arguments and a self-test.
func (s *Store) first(ctx context.Context, sel *plan.SelectBatch, with plan.Filter, o *plan.Order) (*plan.First, error) {
	f := &finding{store: s, tied: o.Tied, with: filter.Of(with), out: new(plan.First)}
	if s.t.Rows == 0 || len(sel.Selection(0)) == 0 {
		return f.out, nil
	}
	own := new(plan.SelectBatch)
	if needsVectors(sel.Selection(0)) {
		set, err := s.Filter(ctx, sel, with)
		if err != nil {
			return nil, err
		}
		defer set.Close()
		f.with = filter.Of(set)
		own.Do(plan.StepAll)
	} else {
		own.Copy(sel, sel.Selection(0))
	}
	own.End()
	var err error
	if f.values, err = s.allValues(ctx); err != nil {
		return nil, err
	}
	if err := f.prepare(own); err != nil {
		return nil, err
	}
	x, err := s.free.Take(ctx, s.closing, s.newTableSlot)
	if err != nil {
		return nil, err
	}
	f.slot = x
	if err := f.find(ctx, own, o.Keys, o.K); err != nil {
		go x.giveBack() // once no command is under way
		return nil, err
	}
	s.free.Give(x)
	return f.out, nil
}

// needsVectors tells whether a selection reads bit vectors.
func needsVectors(steps []plan.Step) bool {
	for _, x := range steps {
		if x.Code == plan.StepAny && x.To > x.From {
			return true
		}
	}
	return false
}

// finding finds the first rows of an order.
type finding struct {
	store  *Store
	values *values
	slot   *slot
	with   *filter.Set // nil: none
	tied   bool
	best   device.Kernel[bestKeysArguments]
	above  device.Kernel[rowsAboveArguments]
	out    *plan.First
}

// prepare chooses and builds the programs.
func (f *finding) prepare(sel *plan.SelectBatch) error {
	with := f.values.features()
	if looksUp(sel.Steps) || !f.store.lean() {
		with |= useCodes
	}
	f.best, f.above = bestKeys.For(with), rowsAbove.For(with)
	_, err := f.store.rt.ProgramOf(f.best.KernelID)
	return err
}

// find adds the first k rows of a selection by some keys, then by row.
func (f *finding) find(ctx context.Context, sel *plan.SelectBatch, keys []plan.OrderKey, k int) error {
	o := f.order(keys, k)
	if err := f.bests(ctx, sel, o); err != nil {
		return err
	}
	if f.out.Count == 0 {
		for i := range o.units {
			f.out.Count += uint64(o.units[i].rows)
		}
	}
	bound, room := o.bound(k), 2*k+2*bitslice.TileRows
	for range mostRaises {
		units, crowded := o.candidates(bound, k, room, f.tied)
		var above, equal list
		if len(units) > 0 {
			var err error
			if above, equal, err = f.rows(ctx, sel, o, bound, units, room); err != nil {
				return err
			}
		}
		if crowded {
			equal.count = room + 1 // at least
		}
		if above.count > room {
			var err error
			if bound, err = o.raised(f.store.t, above.rows, k); err != nil {
				return err
			}
			continue
		}
		f.out.Rows = append(f.out.Rows, above.rows...)
		left := k - above.count
		switch {
		case left <= 0:
			return nil
		case equal.count <= room:
			f.out.Rows = append(f.out.Rows, equal.rows...)
			return nil
		case f.tied && len(keys) == 1:
			if equal.count > mostTied {
				return fmt.Errorf("%d rows with equal codes: %w", equal.count, plan.ErrUnsupported)
			}
			_, equal, err := f.rows(ctx, sel, o, bound, units, equal.count)
			if err == nil {
				f.out.Rows = append(f.out.Rows, equal.rows...)
			}
			return err
		}
		next, err := o.at(f.store.t, sel, bound)
		if err != nil {
			return err
		}
		return f.find(ctx, next, keys[1:], left)
	}
	return fmt.Errorf("an order whose first rows lie close together: %w", plan.ErrUnsupported)
}

// list is rows of a unit, as many as there is room for, and their number.
type list struct {
	rows  []uint32
	count int
}

// bests runs best_keys.
func (f *finding) bests(ctx context.Context, sel *plan.SelectBatch, o *order) error {
	x, t := f.slot, f.store.t
	n := bitslice.Tiles(t.Rows) * o.parts / o.each
	err := f.run(ctx, sel, o.record(nil), 4*n, func(at int) error {
		args := bestKeysArguments{slicesBuffers: f.values.buffers(t), rowCount: int(t.Rows), batch: x.batch.Buffer, selectionsAt: x.cut.selectionsAt,
			bits: f.bits(), out: x.rows.Buffer, at: at, each: o.each}
		return f.best.Launch(&x.Flight, args, tileRuns(t, sliceTiles(x.Device.Tuning)), sliceGroup(x.Device.Tuning), device.SelectTime)
	})
	if err != nil {
		return err
	}
	x.units = append(x.units[:0], unsafe.Slice((*unit)(unsafe.Pointer(&x.Down.Words[0])), n)...)
	o.units = x.units
	return nil
}

// rows runs rows_above on some units.
func (f *finding) rows(ctx context.Context, sel *plan.SelectBatch, o *order, bound uint64, units []uint32, room int) (above, equal list, err error) {
	x, t := f.slot, f.store.t
	size := sliceGroup(x.Device.Tuning)
	err = f.run(ctx, sel, append(o.record(&bound), append([]uint32{uint32(len(units)), 0, 0, 0}, units...)...), 4+2*room, func(at int) error {
		if err := x.Clear(x.rows.Buffer, 4); err != nil {
			return err
		}
		args := rowsAboveArguments{slicesBuffers: f.values.buffers(t), rowCount: int(t.Rows), batch: x.batch.Buffer, selectionsAt: x.cut.selectionsAt,
			bits: f.bits(), out: x.rows.Buffer, at: at, each: o.each, room: room}
		return f.above.Launch(&x.Flight, args, max((len(units)*o.each+size-1)/size, 1), size, device.CompactTime)
	})
	if err != nil {
		return above, equal, err
	}
	down := x.Down.Words
	for i, to := range []*list{&above, &equal} {
		to.count = int(down[i])
		to.rows = down[4+i*room:][:min(to.count, room)]
	}
	if above.count+equal.count > int(t.Rows) {
		return above, equal, x.Device.Impossible("%d and %d of %d rows", above.count, equal.count, t.Rows)
	}
	return above, equal, nil
}

// bits is the buffer of the filter, in Runtime.Do.
func (f *finding) bits() *ocl.MemObject {
	if f.with != nil {
		return f.store.rt.Regions.Buffer()
	}
	return f.slot.batch.Buffer
}

// run uploads a selection and a record behind it, launches a kernel and downloads its answer.
func (f *finding) run(ctx context.Context, sel *plan.SelectBatch, record []uint32, back int, launch func(at int) error) error {
	x, s := f.slot, f.store
	defer x.ReleaseEvents()
	c := &x.cut
	*c = cut{sel: sel, values: f.values, with: f.with, skips: c.skips, ranks: c.ranks}
	n := c.measure(sel.Selection(0))
	c.count, c.sliced, c.steps, c.records = 1, 1, n.steps, n.records
	c.selectionsAt = (head + 1 + 3) / 4
	c.words = 4 * (c.selectionsAt + 1 + n.steps + n.records)
	up := c.words + len(record)
	if err := s.scratch.Room(&x.batch, up, 0, "an order"); err != nil {
		return err
	}
	if err := s.scratch.Room(&x.rows, back, 0, "first rows"); err != nil {
		return err
	}
	if err := x.Grow(ctx, &x.Up, up); err != nil {
		return err
	}
	if err := x.Grow(ctx, &x.Down, back); err != nil {
		return err
	}
	clear(x.Up.Words[:4*c.selectionsAt])
	w := writer{c, s, x.Up.Words, c.selectionsAt, c.selectionsAt + 1, 0}
	w.operand = w.step + c.steps
	w.selection(sel.Selection(0), 0, 0)
	copy(x.Up.Words[c.words:], record)
	err := x.Run(ctx, "ordering rows", func() error {
		if err := x.Write(x.batch.Buffer, up); err != nil {
			return err
		}
		if err := launch(c.words / 4); err != nil {
			return err
		}
		return x.Read(x.rows.Buffer, back)
	})
	if err != nil {
		return err
	}
	f.out.Stats.BytesUp += uint64(4 * up)
	f.out.Stats.BytesDown += uint64(4 * back)
	return x.AddTimes(&f.out.Stats)
}

var _ plan.Sorter = (*Store)(nil)
