package bitmap

import (
	"context"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// Filter implements plan.TableStore. The rows stay on the device: the kernel that selects them writes
// them, and their number in each tile, to the region of the filter.
func (s *Store) Filter(ctx context.Context, sel *plan.SelectBatch, with plan.Filter) (plan.Filter, error) {
	if sel.Len() != 1 {
		return nil, fmt.Errorf("a filter of %d selections, want 1", sel.Len())
	}
	if err := s.check(ctx, sel); err != nil {
		return nil, err
	}
	if err := filter.Check([]plan.Filter{with}, s.rt, s.t.Rows); err != nil {
		return nil, err
	}
	if s.dir.tiles == 0 || len(sel.Selection(0)) == 0 { // no row
		return made(filter.New(ctx, s.rt, s.t.Rows, make([]uint64, plan.FilterWords(s.t.Rows))))
	}
	own := &plan.SelectBatch{Output: plan.OutputResident, Strategy: sel.Strategy, Rescan: sel.Rescan}
	own.Copy(sel, sel.Selection(0))
	own.End()
	return made(device.Detached(ctx, s.rt, func() (*filter.Set, error) { return s.filter(ctx, own, with) }, func(f *filter.Set) { _ = f.Close() }))
}

// filter is Filter without a check of its arguments. It waits until no command writes to the region.
func (s *Store) filter(ctx context.Context, sel *plan.SelectBatch, with plan.Filter) (*filter.Set, error) {
	span := s.dir.tile / 32 * (s.t.Word() - 1) // words of a tile
	if inSlices(sel.Selection(0)) {
		span = bitslice.TileRows / 32
	}
	f, err := filter.Begin(ctx, s.rt, s.t.Rows, span)
	if err != nil {
		return nil, err
	}
	out := plan.Rows{Counts: make([]uint32, 1), Stride: plan.FilterWords(s.t.Rows)}
	err = s.onSlot(ctx, sel, func(x *slot) error {
		return s.rt.Regions.Fill(func(m *ocl.MemObject) error {
			x.region, x.with = &region{m, f.At(), f.CountsAt()}, filter.Of(with)
			x.after = &after{send: func(int) error { return f.Send(&x.Flight, m, x.batch.Buffer, head) }}
			err := x.run(ctx, sel, &out)
			if x.region, x.with, x.after = nil, nil, nil; err != nil {
				x.Land()
			}
			return err
		})
	})
	if err != nil {
		return nil, f.Fail(err)
	}
	f.End(out.Counts[0])
	return f, nil
}

// made returns a filter as an interface that is nil after an error.
func made(f *filter.Set, err error) (plan.Filter, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}
