package bitmap

import (
	"context"
	"fmt"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/codec/wah"
	"heddle/engine/plan"
)

// Filter implements plan.TableStore. The rows stay on the device: a copy command moves them to the
// region of the filter, behind the kernel that selects them.
func (s *Store) Filter(ctx context.Context, sel *plan.SelectBatch) (plan.Filter, error) {
	if sel.Len() != 1 {
		return nil, fmt.Errorf("a filter of %d selections, want 1", sel.Len())
	}
	if err := s.check(ctx, sel); err != nil {
		return nil, err
	}
	if s.dir.tiles == 0 || len(sel.Selection(0)) == 0 { // no row
		return made(filter.New(s.rt, s.t.Rows, make([]uint64, plan.FilterWords(s.t.Rows))))
	}
	f, err := filter.Begin(s.rt, s.t.Rows)
	if err != nil {
		return nil, err
	}
	one := *sel
	one.Output = plan.OutputResident
	out := plan.Rows{Counts: make([]uint32, 1), Stride: wah.Bitset(uint64(s.t.Rows))}
	err = s.onSlot(ctx, &one, func(x *slot) error {
		return s.rt.Regions.Fill(func(m *ocl.MemObject) error {
			x.kept = func() error {
				words := slices.Min([]int{2 * out.Stride, 2 * plan.FilterWords(s.t.Rows)})
				e, err := x.Queue.EnqueueCopyBuffer(x.rows.Buffer, m, 0, f.Place(), 4*words, nil)
				if err := x.Sent(e, err, device.CompactTime); err != nil {
					return err
				}
				return f.Send(&x.Flight, m)
			}
			err := x.run(ctx, &one, &out)
			if x.kept = nil; err != nil {
				x.Land() // no command writes to the region
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
