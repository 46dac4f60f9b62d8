package cl

import (
	"slices"
	"time"

	"heddle/engine/plan"
)

// sendLists enqueues what makes docIDs of the lists of a window, and finds where ranges
// begin in them. With `clear` the states of the queries begin anew. It runs in
// Backend.do.
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
	return x.each("starts", len(c.parts)*(ranges+1), scoreTime,
		x.batch, len(c.parts), x.docs.buffer, c.first*c.span, log2(c.span), ranges, x.starts.buffer)
}

// sendShares enqueues what makes the shares of the postings of a window. It runs in
// Backend.do.
func (x *rankSlot) sendShares(c *rankCut) error {
	runs := 0
	for _, n := range c.runs {
		runs += n
	}
	if runs == 0 {
		return nil
	}
	k, freqs := x.kernels[kernelID{name: "share"}], c.lists.freqs.buffers
	if err := arguments(k, freqs[0], freqs[1], freqs[2], freqs[3], x.batch, x.runs.buffer, x.docs.buffer,
		c.lists.lengths, asInt(c.lists.narrow), int(x.store.src.Docs), x.shares.buffer); err != nil {
		return err
	}
	return x.launch(k, runs, x.backend.tuning.decodeLocal(), scoreTime)
}

// sendPasses enqueues the passes of a window, each followed by the selection of the
// best so far. It runs in Backend.do.
func (x *rankSlot) sendPasses(c *rankCut) error {
	t, queries, or := x.backend.tuning, len(c.queries), c.ranks.Mode == plan.Or
	freqs, docs := c.lists.freqs.buffers, int(x.store.src.Docs)
	var lists []any
	for _, m := range x.store.arena.buffers {
		lists = append(lists, m)
	}
	frequencies := []any{freqs[0], freqs[1], freqs[2], freqs[3]}
	asked := []any{x.batch, c.termsAt, c.queriesAt, queries, x.docs.buffer, x.starts.buffer, c.first * c.span}
	results := []any{x.state.buffer, x.keys.buffer, c.capacity}
	launch := func(name string, groups int, to func(*plan.Stats) *time.Duration, args ...[]any) error {
		k := x.kernels[kernelID{name: name}]
		if err := arguments(k, slices.Concat(args...)...); err != nil {
			return err
		}
		return x.launch(k, queries*groups, t.rankLocal(), to)
	}
	passes := c.passes()
	for i, pass := range passes {
		ranges := pass.end - pass.begin
		if pass.only {
			ranges = (ranges + pass.every - 1) / pass.every
		}
		var err error
		if or {
			span := 1
			if !pass.only { // a group takes several ranges where there are enough of them
				span = max(min(ranges*queries/rankGroupsLeast, rankSpan), 1)
			}
			err = launch("accumulate", (ranges+span-1)/span, scoreTime, asked,
				[]any{x.shares.buffer, pass.begin - c.first, pass.end - c.first, span, pass.every, asInt(pass.only), docs}, results)
		} else {
			err = launch("conjoin", ranges, probeTime, lists, frequencies, asked,
				[]any{c.lists.lengths, asInt(c.lists.narrow), log2(c.span), pass.begin - c.first, pass.every, asInt(pass.only), docs}, results)
		}
		if err != nil {
			return err
		}
		best := x.best.buffer
		if c.end < c.ranges || i+1 < len(passes) {
			best = nil
		}
		if err := x.selector.run(queries, c.capacity, c.ranks.K, x.keys.buffer, x.state.buffer, best); err != nil {
			return err
		}
	}
	return nil
}

// rankGroupsLeast is how many work-groups are enough for a device.
const rankGroupsLeast = 8192

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
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
