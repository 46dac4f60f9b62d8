package expression

import (
	"context"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/engine/plan"
)

// Sets makes the documents of each expression of b a filter, without a way over the host. No command writes to the
// filters when it returns.
func (e *Evaluator) Sets(ctx context.Context, b *plan.MatchBatch, out *plan.Sets) error {
	if err := b.Validate(e.set.Src); err != nil {
		return err
	}
	made, err := device.Detached(ctx, e.set.Device, func() (plan.Sets, error) { return e.sets(ctx, b) }, func(s plan.Sets) { _ = s.Close() })
	if err == nil {
		*out = made
	}
	return err
}

func (e *Evaluator) sets(ctx context.Context, b *plan.MatchBatch) (out plan.Sets, err error) {
	into, counted := make([]*filter.Set, b.Queries()), plan.Results{}
	for i := range into {
		if len(b.Expression(i)) == 0 || e.set.Src.Docs == 0 {
			into[i], err = filter.New(ctx, e.set.Device, e.set.Src.Docs, make([]uint64, plan.FilterWords(e.set.Src.Docs)))
		} else {
			into[i], err = filter.Begin(ctx, e.set.Device, e.set.Src.Docs, rangeLen/32)
		}
		if err != nil {
			return plan.Sets{}, out.Fail(err)
		}
		out.Filters = append(out.Filters, into[i])
	}
	if err := e.run(ctx, b, &counted, into, e.set.Auto); err != nil {
		return plan.Sets{}, out.Fail(err)
	}
	out.Stats = counted.Stats
	return out, nil
}

// endOf returns the group behind the last one of expression i of the round.
func (c *cut) endOf(i int) int {
	if i+1 < c.count {
		return c.firstGroup[i+1]
	}
	return c.groups
}

// fill copies the sets of a round to its filters, and completes the filters whose last range is in the round. out has the
// numbers of documents.
func (x *slot) fill(ctx context.Context, c *cut, out *plan.Results) error {
	defer x.ReleaseEvents()
	ended := min(c.query-c.first, c.count) // expressions whose last range is in the round
	for i := range ended {
		x.Up.Words[i] = uint32(out.Offsets[c.first+i+1])
	}
	err := x.Device.Regions.Fill(func(m *ocl.MemObject) error {
		err := x.Run(ctx, "making filters", func() error { return x.copy(c, m, ended) })
		if err != nil {
			x.Land()
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, n := range x.Up.Words[:ended] {
		if c.firstGroup[i] < c.endOf(i) {
			c.into[c.first+i].End(n)
		}
	}
	return x.AddTimes(&out.Stats)
}

// copy enqueues the commands of fill. It runs in Runtime.Do.
func (x *slot) copy(c *cut, m *ocl.MemObject, ended int) error {
	if ended > 0 {
		if err := x.Write(x.batch, ended); err != nil {
			return err
		}
	}
	for i := range c.count {
		first, n, at := c.firstGroup[i], c.endOf(i)-c.firstGroup[i], 0
		if n == 0 {
			continue
		}
		if i == 0 {
			at = c.from
		}
		f := c.into[c.first+i]
		for _, part := range []struct {
			from *ocl.MemObject
			to   int // in units of four words
			each int // bytes of a range
		}{{x.sets, f.At(), rangeLen / 8}, {x.counts, f.CountsAt(), 4}} {
			e, err := x.Queue.EnqueueCopyBuffer(part.from, m, part.each*first, 16*part.to+part.each*at, part.each*n, nil)
			if err := x.Sent(e, err, device.CompactTime); err != nil {
				return err
			}
		}
		if i < ended {
			if err := f.Send(&x.Flight, m, x.batch, i); err != nil {
				return err
			}
		}
	}
	return x.Queue.Flush()
}
