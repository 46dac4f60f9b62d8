package cl

import (
	"time"

	"heddle/engine/plan"
)

// sendLists enqueues what makes docIDs of the lists of a window, finds where ranges
// begin in them, and for OR the shares of their postings. With `clear` the states of
// the queries begin anew. It runs on the owner.
func (x *rankSlot) sendLists(c *rankCut, clear bool) error {
	t, states := x.backend.tuning, 0
	if clear {
		states = len(c.queries) * selectState
	}
	runs := 0
	for _, n := range c.runs {
		runs += n
	}
	if err := x.write(x.batch, c.words); err != nil {
		return err
	}
	if err := x.each("prepare", max(runs, states, 1), decodeTime, x.batch, len(c.parts), runs, x.runs.buffer, x.state.buffer, states); err != nil {
		return err
	}
	at, lists := 0, x.store.arena.buffers
	for d, n := range c.runs {
		if n == 0 {
			continue
		}
		k := x.kernels[kernelID{name: "copy_raw"}]
		groups, local := n, t.decodeLocal()
		if d += noDecoder; d != noDecoder {
			var err error
			if k, err = x.decoder(d); err != nil {
				return err
			}
			groups, local = t.decodeShape(d, n)
		}
		if err := arguments(k, lists[0], lists[1], lists[2], lists[3], x.runs.buffer, 2*at, x.docs.buffer); err != nil {
			return err
		}
		if err := x.launch(k, groups, local, decodeTime); err != nil {
			return err
		}
		at += n
	}
	ranges := c.end - c.first
	err := x.each("starts", len(c.parts)*(ranges+1), scoreTime,
		x.batch, len(c.parts), x.docs.buffer, c.first*c.span, log2(c.span), ranges, x.starts.buffer)
	if err != nil || c.ranks.Mode == plan.And || runs == 0 {
		return err
	}
	k, freqs := x.kernels[kernelID{name: "share"}], c.lists.freqs.buffers
	if err := arguments(k, freqs[0], freqs[1], freqs[2], freqs[3], x.batch, x.runs.buffer, x.docs.buffer,
		c.lists.lengths, c.lists.narrowFlag(), int(x.store.src.Docs), x.shares.buffer); err != nil {
		return err
	}
	return x.launch(k, runs, t.decodeLocal(), scoreTime)
}

// each launches a kernel whose work-items do one thing each, n in all.
func (x *rankSlot) each(name string, n int, to func(*plan.Stats) *time.Duration, args ...any) error {
	k := x.kernels[kernelID{name: name}]
	if err := arguments(k, args...); err != nil {
		return err
	}
	return x.launch(k, (n+eachLocal-1)/eachLocal, eachLocal, to)
}

const eachLocal = 64
