package rank

import (
	"cmp"
	"slices"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/rank/packets"
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

// sendCoarse enqueues a round, of which so many keys a query come back. It runs in Runtime.Do.
func (x *slot) sendCoarse(c *cut, k *coarse, back int) error {
	if err := x.Device.Fault("enqueue"); err != nil {
		return err
	}
	set, data := x.ranker.set, c.data
	queries, ranges := len(k.queries), packets.Ranges(set.Src.Docs)
	if err := x.Write(x.batch.Buffer, k.words); err != nil {
		return err
	}
	launch := func(id device.KernelID, groups, local int, to device.Counter, args ...any) error {
		kernel, err := x.KernelOf(id)
		if err == nil {
			err = device.SetArguments(kernel, args...)
		}
		if err != nil {
			return err
		}
		return x.Launch(kernel, groups, local, to)
	}
	p, filters := k.packets.Buffers(), set.Buffers(k.filtered)[lists.FilterArena]
	sums := func(id device.KernelID, from, queries, every, span int, found device.Scratch, most int) error {
		if queries == 0 {
			return nil
		}
		local, groups := 128, (ranges+every*span-1)/(every*span)
		if id == narrowSums {
			local = 64
		}
		return launch(k.sums(id), queries*groups, coarseLocal(x.Device.Tuning, local), device.ScoreTime,
			p[0], p[1], p[2], p[3], x.batch.Buffer, k.termsAt, k.queriesAt, from, queries, ranges, every, span, asInt(k.all), c.batch.K,
			x.batch.Buffer, k.binsAt, x.state.Buffer, x.counts.Buffer, found.Buffer, most, k.cells, k.filtersAt, filters)
	}
	err := sums(sampleSums, 0, queries, k.every, 1, x.cells, k.sampled*k.cells)
	if err == nil && !k.binned {
		err = launch(device.KernelID{Name: "coarse_threshold"}, queries, coarseLocal(x.Device.Tuning, 256), device.SelectTime,
			x.batch.Buffer, k.queriesAt, asInt(k.all), x.cells.Buffer, k.sampled*k.cells, c.batch.K, x.state.Buffer, x.counts.Buffer)
	}
	if err != nil {
		return err
	}
	span := max(min(ranges*queries/leastGroups(x.Device.Tuning), coarseSpan), 1)
	err = cmp.Or(sums(narrowSums, 0, k.narrow, 1, span, x.docs, k.found), sums(wideSums, k.narrow, queries-k.narrow, 1, span, x.docs, k.found))
	if err != nil {
		return err
	}
	if queries > aloneQueries || c.batch.K > manyDocs || x.Device.Tuning.Serial { // else exact scores take less time than a higher threshold
		err = launch(device.KernelID{Name: "coarse_raise"}, queries, coarseLocal(x.Device.Tuning, 256), device.SelectTime,
			x.batch.Buffer, k.termsAt, k.queriesAt, k.narrow, asInt(k.all), x.counts.Buffer, x.docs.Buffer, k.found, c.batch.K, k.filtersAt, x.state.Buffer)
		if err != nil {
			return err
		}
	}
	groups := max(min(completeTeams/queries, 256, k.postings/completeDocs), 1)
	a, f := set.Arena.Buffers, data.freqs.Buffers
	keys, at, capacity := x.keys.Buffer, 0, k.capacity
	if k.selects(c) {
		keys, at, capacity = x.state.Buffer, bestAt(queries), back
	}
	err = launch(device.KernelID{Name: "coarse_complete"}, queries*groups, coarseLocal(x.Device.Tuning, 64), device.ProbeTime,
		a[0], a[1], a[2], a[3], f[0], f[1], f[2], f[3], p[0], p[1], p[2], p[3], ranges, x.batch.Buffer, k.termsAt, k.queriesAt, groups,
		data.lengths, asInt(data.narrow), int(set.Src.Docs), x.counts.Buffer, x.ranker.bitsets(), x.docs.Buffer, k.found, x.state.Buffer, keys, at, capacity, c.batch.K, asInt(k.all))
	if err == nil && !k.selects(c) {
		err = x.selector.run(queries, k.capacity, c.batch.K, x.keys.Buffer, x.state.Buffer, x.state.Buffer, bestAt(queries))
	}
	if err != nil {
		return err
	}
	return x.Read(x.state.Buffer, resultWords(queries, back))
}

// coarseLocal is the work-group size of a kernel of coarse.cl or complete.cl.
func coarseLocal(t device.Tuning, local int) int {
	if t.Serial {
		return 1
	}
	return local
}

// leastGroups is a number of work-groups that keeps a device busy.
func leastGroups(t device.Tuning) int {
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
