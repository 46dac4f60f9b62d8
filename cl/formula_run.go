package cl

import (
	"cmp"
	"context"
	"fmt"

	"heddle/engine/plan"
)

// run evaluates a round and adds its results to out: counts to the offsets of its
// formulas, docIDs to the others.
func (x *formulaSlot) run(ctx context.Context, c *formulaCut, out *plan.Results) error {
	b := x.store.backend
	defer x.releaseEvents()
	if err := b.do(func() error { return x.evaluate(c) }); err != nil {
		return b.fail("running formulas", err)
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
			if n > formulaRange {
				return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: b.dev.String(), Op: "reading results",
					Err: fmt.Errorf("%d documents in a range of %d", n, formulaRange)}
			}
			total += int(n)
			out.Offsets[c.first+i+1] += uint64(n)
		}
	}
	if !c.formulas.CountOnly && total > 0 {
		if err := x.download(ctx, c, out); err != nil {
			return err
		}
		c.bytesMoved += uint64(c.groups)*formulaRange/8 + 4*uint64(total)
	}
	out.Stats.BytesUp += uint64(4 * c.words)
	out.Stats.BytesDown += uint64(4 * c.groups)
	if b.opt.CountLoads {
		out.Stats.BytesMoved += c.bytesMoved
	}
	return x.addTimes(&out.Stats)
}

// evaluate enqueues all of a round but the docIDs. It runs in Backend.do.
func (x *formulaSlot) evaluate(c *formulaCut) error {
	s, b := x.store, x.store.backend
	if err := b.fault("enqueue"); err != nil {
		return err
	}
	if err := x.write(x.batch, c.words); err != nil {
		return err
	}
	lists := s.arena.buffers
	for d, runs := range c.runs {
		if len(runs) == 0 {
			continue
		}
		k, err := x.decoder(d)
		if err == nil {
			err = arguments(k, lists[0], lists[1], lists[2], lists[3], x.batch, c.runsAt[d], cmp.Or(x.more, x.decoded))
		}
		if err != nil {
			return err
		}
		groups, local := b.tuning.decodeShape(d, len(runs))
		if err := x.launch(k, groups, local, decodeTime); err != nil {
			return err
		}
	}
	k := x.kernels[formulaProgram]
	err := arguments(k, lists[0], lists[1], lists[2], lists[3], cmp.Or(c.tables.buffer, lists[0]), cmp.Or(x.more, x.decoded), x.batch,
		c.stepsAt, c.groupAt, int(s.src.Docs), x.sets, x.counts, x.batch, c.sumsAt, localBytes(c.levels*formulaRange/8))
	if err != nil {
		return err
	}
	if err := x.launch(k, c.groups, b.tuning.setLocal(), probeTime); err != nil {
		return err
	}
	return x.read(x.counts, c.groups)
}

// download makes docIDs of the sets, as many groups at a time as there is room
// for, and appends them to out.
func (x *formulaSlot) download(ctx context.Context, c *formulaCut, out *plan.Results) error {
	b := x.store.backend
	counts := append([]uint32(nil), x.down.words[:c.groups]...)
	skip := 0
	for first := 0; first < c.groups; {
		end, n := first, 0
		for end < c.groups && n+int(counts[end]) <= x.shape.docs {
			n += int(counts[end])
			end++
		}
		if n > 0 {
			err := b.do(func() error {
				k := x.kernels[kernelID{name: "expand"}]
				err := arguments(k, x.batch, c.groupAt, x.sets, x.counts, x.batch, c.sumsAt, first, skip, x.docs)
				if err != nil {
					return err
				}
				if err := x.launch(k, end-first, b.tuning.setLocal(), compactTime); err != nil {
					return err
				}
				return x.read(x.docs, n)
			})
			if err != nil {
				return b.fail("expanding sets", err)
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
