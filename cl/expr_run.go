package cl

import (
	"cmp"
	"context"

	"heddle/engine/plan"
)

// run evaluates a round and adds its counts to the offsets of out and its docIDs to the
// docIDs of out.
func (x *exprSlot) run(ctx context.Context, c *exprCut, out *plan.Results) error {
	defer x.releaseEvents()
	if err := x.rt.do(func() error { return x.evaluate(c) }); err != nil {
		return x.rt.fail("running boolean expressions", err)
	}
	if err := x.wait(ctx); err != nil {
		return err
	}
	total := 0
	for i := range c.count {
		end := c.groups
		if i+1 < c.count {
			end = c.firstGroup[i+1]
		}
		for _, n := range x.down.words[c.firstGroup[i]:end] {
			if n > exprRange {
				return x.rt.impossible("%d documents in a range of %d", n, exprRange)
			}
			total += int(n)
			out.Offsets[c.first+i+1] += uint64(n)
		}
	}
	if !c.batch.CountOnly && total > 0 {
		if err := x.download(ctx, c, out); err != nil {
			return err
		}
		c.bytesMoved += uint64(c.groups)*exprRange/8 + 4*uint64(total)
	}
	out.Stats.BytesUp += uint64(4 * c.words)
	out.Stats.BytesDown += uint64(4 * c.groups)
	if x.rt.countLoads {
		out.Stats.BytesMoved += c.bytesMoved
	}
	return x.addTimes(&out.Stats)
}

// evaluate enqueues a round without its docIDs. It runs in opened.do.
func (x *exprSlot) evaluate(c *exprCut) error {
	set, t := x.eval.set, x.rt.tuning
	if err := x.rt.fault("enqueue"); err != nil {
		return err
	}
	if err := x.write(x.batch, c.words); err != nil {
		return err
	}
	lists := set.arena.buffers
	for d, runs := range c.runs {
		if len(runs) == 0 {
			continue
		}
		k, err := x.kernelOf(decoders[d])
		if err == nil {
			err = arguments(k, lists[0], lists[1], lists[2], lists[3], x.batch, c.runsAt[d], cmp.Or(x.more, x.decoded))
		}
		if err != nil {
			return err
		}
		groups, local := decodeShape(t, d, len(runs))
		if err := x.launch(k, groups, local, decodeTime); err != nil {
			return err
		}
	}
	k := x.kernel("evaluate")
	err := arguments(k, lists[0], lists[1], lists[2], lists[3], cmp.Or(c.tables.buffer, lists[0]), cmp.Or(x.more, x.decoded), x.batch,
		c.stepsAt, c.groupAt, int(set.src.Docs), x.sets, x.counts, x.batch, c.sumsAt, localBytes(c.levels*exprRange/8))
	if err != nil {
		return err
	}
	if err := x.launch(k, c.groups, setLocal(t), probeTime); err != nil {
		return err
	}
	return x.read(x.counts, c.groups)
}

// download turns the sets into docIDs, as many groups at a time as there is room for, and
// appends them to out.
func (x *exprSlot) download(ctx context.Context, c *exprCut, out *plan.Results) error {
	rt := x.rt
	counts := append([]uint32(nil), x.down.words[:c.groups]...)
	skip := 0
	for first := 0; first < c.groups; {
		end, n := first, 0
		for end < c.groups && n+int(counts[end]) <= x.shape.docs {
			n += int(counts[end])
			end++
		}
		if n > 0 {
			err := rt.do(func() error {
				k := x.kernel("expand")
				err := arguments(k, x.batch, c.groupAt, x.sets, x.counts, x.batch, c.sumsAt, first, skip, x.docs)
				if err != nil {
					return err
				}
				if err := x.launch(k, end-first, setLocal(rt.tuning), compactTime); err != nil {
					return err
				}
				return x.read(x.docs, n)
			})
			if err != nil {
				return rt.fail("expanding sets", err)
			}
			if err := x.wait(ctx); err != nil {
				return err
			}
			out.Docs = appendWords(out.Docs, x.down.words[:n])
			out.Stats.BytesDown += uint64(4 * n)
		}
		first, skip = end, skip+n
	}
	return nil
}
