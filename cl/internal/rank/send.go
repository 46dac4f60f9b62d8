package rank

import (
	"slices"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

// sendLists enqueues the decoding of the lists of a window and the search for the starts of
// ranges in them. With clear it resets the states of the queries. It runs in Runtime.Do.
func (x *slot) sendLists(c *cut, clear bool) error {
	t, states := x.Device.Tuning, 0
	if clear {
		states = len(c.queries) * selectState
	}
	runs := 0
	for _, n := range c.runs {
		runs += n
	}
	if err := x.Write(x.batch.Buffer, c.words); err != nil {
		return err
	}
	if err := x.each("prepare", max(runs, states, 1), device.DecodeTime, x.batch.Buffer, len(c.parts), runs, x.runs.Buffer, x.state.Buffer, states); err != nil {
		return err
	}
	at, postings := 0, x.ranker.set.Arena.Buffers
	for d, n := range c.runs {
		if n == 0 {
			continue
		}
		k := x.Kernel("copy_raw")
		groups, local := n, lists.DecodeLocal(t)
		if d += lists.NoDecoder; d != lists.NoDecoder {
			var err error
			if k, err = x.KernelOf(lists.Decoders[d]); err != nil {
				return err
			}
			groups, local = lists.DecodeShape(t, d, n)
		}
		if err := device.SetArguments(k, postings[0], postings[1], postings[2], postings[3], x.runs.Buffer, 2*at, x.docs.Buffer); err != nil {
			return err
		}
		if err := x.Launch(k, groups, local, device.DecodeTime); err != nil {
			return err
		}
		at += n
	}
	ranges := c.end - c.first
	return x.each("starts", len(c.parts)*(ranges+1), device.ScoreTime,
		x.batch.Buffer, len(c.parts), x.docs.Buffer, c.first*c.span, log2(c.span), ranges, x.starts.Buffer)
}

// sendComponents enqueues the term-frequency components of the postings of a window. It
// runs in Runtime.Do.
func (x *slot) sendComponents(c *cut) error {
	runs := 0
	for _, n := range c.runs {
		runs += n
	}
	if runs == 0 {
		return nil
	}
	k, freqs := x.Kernel("tf_components"), c.data.freqs.Buffers
	if err := device.SetArguments(k, freqs[0], freqs[1], freqs[2], freqs[3], x.batch.Buffer, x.runs.Buffer, x.docs.Buffer,
		c.data.lengths, asInt(c.data.narrow), int(x.ranker.set.Src.Docs), x.components.Buffer); err != nil {
		return err
	}
	return x.Launch(k, runs, lists.DecodeLocal(x.Device.Tuning), device.ScoreTime)
}

// sendPasses enqueues the passes of a window, each followed by the selection of the
// best so far. It runs in Runtime.Do.
func (x *slot) sendPasses(c *cut) error {
	t, queries, or := x.Device.Tuning, len(c.queries), c.batch.Mode == plan.Or
	freqs, docs := c.data.freqs.Buffers, int(x.ranker.set.Src.Docs)
	var postings []any
	buffers := x.ranker.set.Buffers(c.filtered)
	for _, m := range buffers {
		postings = append(postings, m)
	}
	frequencies := []any{freqs[0], freqs[1], freqs[2], freqs[3]}
	asked := []any{x.batch.Buffer, c.termsAt, c.queriesAt, queries, x.docs.Buffer, x.starts.Buffer, c.first * c.span}
	results := []any{x.state.Buffer, x.keys.Buffer, c.capacity}
	launch := func(name string, groups int, to device.Counter, args ...[]any) error {
		k := x.Kernel(name)
		if err := device.SetArguments(k, slices.Concat(args...)...); err != nil {
			return err
		}
		return x.Launch(k, queries*groups, workGroup(t), to)
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
				span = max(min(ranges*queries/leastGroups(t), maxSpan), 1)
			}
			err = launch("accumulate", (ranges+span-1)/span, device.ScoreTime, asked,
				[]any{x.components.Buffer, pass.begin - c.first, pass.end - c.first, span, pass.every, asInt(pass.only), docs, buffers[lists.FilterArena]}, results)
		} else {
			err = launch("rank_and", ranges, device.ProbeTime, postings, frequencies, asked,
				[]any{c.data.lengths, asInt(c.data.narrow), x.ranker.bitsets(), log2(c.span), pass.begin - c.first, pass.every, asInt(pass.only), docs}, results)
		}
		if err != nil {
			return err
		}
		best := x.state.Buffer
		if c.end < c.ranges || i+1 < len(passes) {
			best = nil
		}
		if err := x.selector.run(queries, c.capacity, c.batch.K, x.keys.Buffer, x.state.Buffer, best, bestAt(queries)); err != nil {
			return err
		}
	}
	return nil
}

// leastGroups is a number of work-groups that keeps a device busy. A test sets a smaller one.
var leastGroups = func(t device.Tuning) int {
	if t.Serial {
		return 64
	}
	return 8192
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// each launches a kernel with one work-item for each of n elements.
func (x *slot) each(name string, n int, to device.Counter, args ...any) error {
	k := x.Kernel(name)
	if err := device.SetArguments(k, args...); err != nil {
		return err
	}
	return x.Launch(k, (n+eachLocal-1)/eachLocal, eachLocal, to)
}

const eachLocal = 64
