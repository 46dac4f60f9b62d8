package expression

import (
	"cmp"
	"context"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

// run evaluates a round and adds its counts to the offsets of out and its docIDs to the
// docIDs of out.
func (x *slot) run(ctx context.Context, c *cut, out *plan.Results) error {
	defer x.ReleaseEvents()
	if err := x.Device.Do(func() error { return x.evaluate(c) }); err != nil {
		return x.Device.Fail("running boolean expressions", err)
	}
	if err := x.Wait(ctx); err != nil {
		return err
	}
	total := 0
	for i := range c.count {
		end := c.groups
		if i+1 < c.count {
			end = c.firstGroup[i+1]
		}
		for _, n := range x.Down.Words[c.firstGroup[i]:end] {
			if n > rangeLen {
				return x.Device.Impossible("%d documents in a range of %d", n, rangeLen)
			}
			total += int(n)
			out.Offsets[c.first+i+1] += uint64(n)
		}
	}
	if !c.batch.CountOnly && total > 0 {
		if err := x.download(ctx, c, out); err != nil {
			return err
		}
		c.bytesMoved += uint64(c.groups)*rangeLen/8 + 4*uint64(total)
	}
	out.Stats.BytesUp += uint64(4 * c.words)
	out.Stats.BytesDown += uint64(4 * c.groups)
	if x.Device.CountLoads {
		out.Stats.BytesMoved += c.bytesMoved
	}
	return x.AddTimes(&out.Stats)
}

// evaluate enqueues a round without its docIDs. It runs in Runtime.Do.
func (x *slot) evaluate(c *cut) error {
	set, t := x.eval.set, x.Device.Tuning
	if err := x.Device.Fault("enqueue"); err != nil {
		return err
	}
	if err := x.Write(x.batch, c.words); err != nil {
		return err
	}
	postings := set.Arena.Buffers
	for d, runs := range c.runs {
		if len(runs) == 0 {
			continue
		}
		k, err := x.KernelOf(lists.Decoders[d])
		if err == nil {
			err = device.SetArguments(k, postings[0], postings[1], postings[2], postings[3], x.batch, c.runsAt[d], cmp.Or(x.more, x.decoded))
		}
		if err != nil {
			return err
		}
		groups, local := lists.DecodeShape(t, d, len(runs))
		if err := x.Launch(k, groups, local, device.DecodeTime); err != nil {
			return err
		}
	}
	k, postings := x.Kernel("evaluate"), set.Buffers(c.filtered)
	err := device.SetArguments(k, postings[0], postings[1], postings[2], postings[3], cmp.Or(c.tables.Buffer, postings[0]), cmp.Or(x.more, x.decoded), x.batch,
		c.stepsAt, c.groupAt, int(set.Src.Docs), x.sets, x.counts, x.batch, c.sumsAt, device.LocalBytes(c.levels*rangeLen/8))
	if err != nil {
		return err
	}
	if err := x.Launch(k, c.groups, workGroup(t), device.ProbeTime); err != nil {
		return err
	}
	return x.Read(x.counts, c.groups)
}

// download turns the sets into docIDs, as many groups at a time as there is room for, and
// appends them to out.
func (x *slot) download(ctx context.Context, c *cut, out *plan.Results) error {
	rt := x.Device
	counts := append([]uint32(nil), x.Down.Words[:c.groups]...)
	skip := 0
	for first := 0; first < c.groups; {
		end, n := first, 0
		for end < c.groups && n+int(counts[end]) <= x.shape.docs {
			n += int(counts[end])
			end++
		}
		if n > 0 {
			err := rt.Do(func() error {
				k := x.Kernel("expand")
				err := device.SetArguments(k, x.batch, c.groupAt, x.sets, x.counts, x.batch, c.sumsAt, first, skip, x.docs)
				if err != nil {
					return err
				}
				if err := x.Launch(k, end-first, workGroup(rt.Tuning), device.CompactTime); err != nil {
					return err
				}
				return x.Read(x.docs, n)
			})
			if err != nil {
				return rt.Fail("expanding sets", err)
			}
			if err := x.Wait(ctx); err != nil {
				return err
			}
			out.Docs = device.AppendWords(out.Docs, x.Down.Words[:n])
			out.Stats.BytesDown += uint64(4 * n)
		}
		first, skip = end, skip+n
	}
	return nil
}
