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
	if err := x.Run(ctx, "running boolean expressions", func() error { return x.evaluate(c) }); err != nil {
		return err
	}
	total := 0
	for i := range c.count {
		for _, n := range x.Down.Words[c.firstGroup[i]:c.endOf(i)] {
			if n > rangeLen {
				return x.Device.Impossible("%d documents in a range of %d", n, rangeLen)
			}
			total += int(n)
			out.Offsets[c.first+i+1] += uint64(n)
		}
	}
	if !c.batch.CountOnly && c.into == nil && total > 0 {
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
	set := x.eval.set
	if err := x.Write(x.batch, c.words); err != nil {
		return err
	}
	decoded := cmp.Or(x.more, x.decoded)
	var runs [len(lists.Decoders)]int
	for d := range runs {
		runs[d] = len(c.runs[d])
	}
	if err := lists.LaunchDecoders(&x.Flight, lists.DecodeArguments{A: set.Arena.Buffers, Runs: x.batch, Out: decoded}, &runs, &c.runsAt); err != nil {
		return err
	}
	err := evaluate.Launch(&x.Flight, evaluateArguments{a: set.Buffers(c.filtered), aux: cmp.Or(c.tables.Buffer, set.Arena.Buffers[0]), decoded: decoded,
		batch: x.batch, stepsAt: c.stepsAt, groupsAt: c.groupAt, docs: int(set.Src.Docs), words: x.sets, counts: x.counts, sums: x.batch, sumsAt: c.sumsAt,
		stack: device.LocalBytes(c.levels * rangeLen / 8)}, c.groups, workGroup(x.Device.Tuning), device.ProbeTime)
	if err != nil {
		return err
	}
	return x.Read(x.counts, c.groups)
}

// download turns the sets into docIDs, as many groups at a time as there is room for, and
// appends them to out.
func (x *slot) download(ctx context.Context, c *cut, out *plan.Results) error {
	counts := append([]uint32(nil), x.Down.Words[:c.groups]...)
	skip := 0
	for first := 0; first < c.groups; {
		end, n := first, 0
		for end < c.groups && n+int(counts[end]) <= x.shape.docs {
			n += int(counts[end])
			end++
		}
		if n > 0 {
			err := x.Run(ctx, "expanding sets", func() error {
				args := expandArguments{batch: x.batch, groupsAt: c.groupAt, words: x.sets, counts: x.counts, sums: x.batch, sumsAt: c.sumsAt, first: first, skip: skip, out: x.docs}
				if err := expand.Launch(&x.Flight, args, end-first, workGroup(x.Device.Tuning), device.CompactTime); err != nil {
					return err
				}
				return x.Read(x.docs, n)
			})
			if err != nil {
				return err
			}
			out.Docs = device.AppendWords(out.Docs, x.Down.Words[:n])
			out.Stats.BytesDown += uint64(4 * n)
		}
		first, skip = end, skip+n
	}
	return nil
}
