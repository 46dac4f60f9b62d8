package rank

import (
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
	runs := c.allRuns()
	if err := x.Write(x.batch.Buffer, c.words); err != nil {
		return err
	}
	args := prepareArguments{batch: x.batch.Buffer, lists: len(c.parts), all: runs, runs: x.runs.Buffer, state: x.state.Buffer, clear: states}
	if err := prepare.Launch(&x.Flight, args, groupsOf(max(runs, states, 1)), eachLocal, device.DecodeTime); err != nil {
		return err
	}
	decode := lists.DecodeArguments{A: x.ranker.set.Arena.Buffers, Runs: x.runs.Buffer, Out: x.docs.Buffer}
	at := c.runs[0]
	if at > 0 {
		if err := copyRaw.Launch(&x.Flight, decode, at, lists.DecodeLocal(t), device.DecodeTime); err != nil {
			return err
		}
	}
	decoders, runsAt := (*[len(lists.Decoders)]int)(c.runs[1:]), [len(lists.Decoders)]int{}
	for d, n := range decoders {
		runsAt[d], at = 2*at, at+n
	}
	if err := lists.LaunchDecoders(&x.Flight, decode, decoders, &runsAt); err != nil {
		return err
	}
	ranges := c.end - c.first
	return starts.Launch(&x.Flight, startsArguments{batch: x.batch.Buffer, lists: len(c.parts), docs: x.docs.Buffer, firstDoc: c.first * c.span,
		bits: log2(c.span), ranges: ranges, out: x.starts.Buffer}, groupsOf(len(c.parts)*(ranges+1)), eachLocal, device.ScoreTime)
}

// sendComponents enqueues the term-frequency components of the postings of a window. It
// runs in Runtime.Do.
func (x *slot) sendComponents(c *cut) error {
	runs := c.allRuns()
	if runs == 0 {
		return nil
	}
	return tfComponents.Launch(&x.Flight, tfArguments{f: c.data.freqs.Buffers, batch: x.batch.Buffer, runs: x.runs.Buffer, docs: x.docs.Buffer,
		lengths: c.data.lengths, narrow: c.data.narrow, docCount: int(x.ranker.set.Src.Docs), components: x.components.Buffer},
		runs, lists.DecodeLocal(x.Device.Tuning), device.ScoreTime)
}

// sendPasses enqueues the passes of a window, each followed by the selection of the
// best so far. It runs in Runtime.Do.
func (x *slot) sendPasses(c *cut) error {
	t, queries, docs := x.Device.Tuning, len(c.queries), int(x.ranker.set.Src.Docs)
	a := x.ranker.set.Buffers(c.filtered)
	asked := postings{batch: x.batch.Buffer, termsAt: c.termsAt, queriesAt: c.queriesAt, queries: queries, docs: x.docs.Buffer, starts: x.starts.Buffer, firstDoc: c.first * c.span}
	to := results{x.state.Buffer, x.keys.Buffer, c.capacity}
	passes := c.passes()
	for i, pass := range passes {
		ranges := pass.end - pass.begin
		if pass.only {
			ranges = (ranges + pass.every - 1) / pass.every
		}
		var err error
		if c.batch.Mode == plan.Or {
			span := 1
			if !pass.only { // a group takes several ranges if there are enough of them
				span = max(min(ranges*queries/leastGroups(t), maxSpan), 1)
			}
			err = accumulate.Launch(&x.Flight, accumulateArguments{postings: asked, components: x.components.Buffer, firstRange: pass.begin - c.first,
				endRange: pass.end - c.first, span: span, every: pass.every, only: pass.only, docCount: docs, filters: a[lists.FilterArena], results: to},
				queries*((ranges+span-1)/span), workGroup(t), device.ScoreTime)
		} else {
			err = rankAnd.Launch(&x.Flight, rankAndArguments{a: a, f: c.data.freqs.Buffers, postings: asked, lengths: c.data.lengths, narrow: c.data.narrow,
				bits: x.ranker.bitsets(), logRange: log2(c.span), firstRange: pass.begin - c.first, every: pass.every, only: pass.only, docCount: docs, results: to},
				queries*ranges, workGroup(t), device.ProbeTime)
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

// eachLocal is the work-group size of kernels with one work-item for each element, groupsOf the
// number of their groups.
const eachLocal = 64

func groupsOf(elements int) int { return (elements + eachLocal - 1) / eachLocal }
