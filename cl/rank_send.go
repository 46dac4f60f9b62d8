package cl

import (
	"slices"

	"heddle/engine/plan"
)

// sendLists enqueues the decoding of the lists of a window and the search for the starts of
// ranges in them. With clear it resets the states of the queries. It runs in opened.do.
func (x *rankSlot) sendLists(c *rankCut, clear bool) error {
	t, states := x.rt.tuning, 0
	if clear {
		states = len(c.queries) * selectState
	}
	runs := 0
	for _, n := range c.runs {
		runs += n
	}
	if err := x.write(x.batch.buffer, c.words); err != nil {
		return err
	}
	if err := x.each("prepare", max(runs, states, 1), decodeTime, x.batch.buffer, len(c.parts), runs, x.runs.buffer, x.state.buffer, states); err != nil {
		return err
	}
	at, lists := 0, x.ranker.set.arena.buffers
	for d, n := range c.runs {
		if n == 0 {
			continue
		}
		k := x.kernel("copy_raw")
		groups, local := n, decodeLocal(t)
		if d += noDecoder; d != noDecoder {
			var err error
			if k, err = x.kernelOf(decoders[d]); err != nil {
				return err
			}
			groups, local = decodeShape(t, d, n)
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
		x.batch.buffer, len(c.parts), x.docs.buffer, c.first*c.span, log2(c.span), ranges, x.starts.buffer)
}

// sendComponents enqueues the term-frequency components of the postings of a window. It
// runs in opened.do.
func (x *rankSlot) sendComponents(c *rankCut) error {
	runs := 0
	for _, n := range c.runs {
		runs += n
	}
	if runs == 0 {
		return nil
	}
	k, freqs := x.kernel("tf_components"), c.data.freqs.buffers
	if err := arguments(k, freqs[0], freqs[1], freqs[2], freqs[3], x.batch.buffer, x.runs.buffer, x.docs.buffer,
		c.data.lengths, asInt(c.data.narrow), int(x.ranker.set.src.Docs), x.components.buffer); err != nil {
		return err
	}
	return x.launch(k, runs, decodeLocal(x.rt.tuning), scoreTime)
}

// sendPasses enqueues the passes of a window, each followed by the selection of the
// best so far. It runs in opened.do.
func (x *rankSlot) sendPasses(c *rankCut) error {
	t, queries, or := x.rt.tuning, len(c.queries), c.batch.Mode == plan.Or
	freqs, docs := c.data.freqs.buffers, int(x.ranker.set.src.Docs)
	var lists []any
	for _, m := range x.ranker.set.arena.buffers {
		lists = append(lists, m)
	}
	frequencies := []any{freqs[0], freqs[1], freqs[2], freqs[3]}
	asked := []any{x.batch.buffer, c.termsAt, c.queriesAt, queries, x.docs.buffer, x.starts.buffer, c.first * c.span}
	results := []any{x.state.buffer, x.keys.buffer, c.capacity}
	launch := func(name string, groups int, to counter, args ...[]any) error {
		k := x.kernel(name)
		if err := arguments(k, slices.Concat(args...)...); err != nil {
			return err
		}
		return x.launch(k, queries*groups, rankLocal(t), to)
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
			if !pass.only { // a group takes several ranges if there are enough of them
				span = max(min(ranges*queries/rankGroupsLeast, rankSpan), 1)
			}
			err = launch("accumulate", (ranges+span-1)/span, scoreTime, asked,
				[]any{x.components.buffer, pass.begin - c.first, pass.end - c.first, span, pass.every, asInt(pass.only), docs}, results)
		} else {
			err = launch("rank_and", ranges, probeTime, lists, frequencies, asked,
				[]any{c.data.lengths, asInt(c.data.narrow), log2(c.span), pass.begin - c.first, pass.every, asInt(pass.only), docs}, results)
		}
		if err != nil {
			return err
		}
		best := x.best.buffer
		if c.end < c.ranges || i+1 < len(passes) {
			best = nil
		}
		if err := x.selector.run(queries, c.capacity, c.batch.K, x.keys.buffer, x.state.buffer, best); err != nil {
			return err
		}
	}
	return nil
}

// rankGroupsLeast is a number of work-groups that keeps a device busy.
const rankGroupsLeast = 8192

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// each launches a kernel with one work-item for each of n elements.
func (x *rankSlot) each(name string, n int, to counter, args ...any) error {
	k := x.kernel(name)
	if err := arguments(k, args...); err != nil {
		return err
	}
	return x.launch(k, (n+eachLocal-1)/eachLocal, eachLocal, to)
}

const eachLocal = 64
