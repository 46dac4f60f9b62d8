package rank

import (
	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

const globalFan = 512 // FAN in kernels/accumulate_global.cl

// global tells whether the batch uses accumulators in global memory.
func (c *cut) global() bool {
	return c.batch.Mode == plan.Or && c.batch.Accumulators == plan.GlobalAccumulators
}

// globalLocal is the work-group size of accumulate_global.cl.
func globalLocal(t device.Tuning) int { return t.Local(128) }

// globalLevels returns the numbers of maxima of each level over n documents, the lowest
// level first. The last level is scanned for every document that is taken.
func globalLevels(n int) (levels []int) {
	for n = fans(n); n > globalFan; n = fans(n) {
		levels = append(levels, n)
	}
	return append(levels, n)
}

// fans is the number of groups for n numbers.
func fans(n int) int { return (n + globalFan - 1) / globalFan }

// openGlobal makes the accumulators, the maxima and the kernels on first use. It frees all
// other buffers first. Shorter rounds would not help, so its errors are not IsExceeded.
func (x *slot) openGlobal() error {
	docs, maxima := int(x.ranker.set.Src.Docs), 0
	for _, n := range globalLevels(docs) {
		maxima += n
	}
	if x.maxima.Words < 2*maxima {
		x.dropAll()
		err := x.Room(&x.scores, docs, docs, "accumulators of all documents")
		if err == nil {
			err = x.Room(&x.maxima, 2*maxima, 2*maxima, "maxima of accumulators")
		}
		if device.IsExceeded(err) {
			err = x.Device.OutOfMemory("ranking", err)
		}
		if err != nil {
			return err
		}
	}
	return x.Prepare(globalBest.KernelID)
}

// sendGlobal enqueues the queries of a window, one after the other: a launch per list, and
// after the last window one for a filter, one per level of maxima and one that takes the best documents. It
// runs in Runtime.Do.
func (x *slot) sendGlobal(c *cut, first bool) error {
	docs, local := int(x.ranker.set.Src.Docs), globalLocal(x.Device.Tuning)
	from := c.first * c.span
	to := min(c.end*c.span, docs)
	term := c.termsAt
	for q, i := range c.queries {
		if first {
			if err := globalClear.Launch(&x.Flight, globalClearArguments{x.scores.Buffer, docs}, fans(docs), local, device.ClearTime); err != nil {
				return err
			}
		}
		for _, t := range c.batch.Query(i) {
			k, ok := c.known[t.List]
			if !ok {
				continue
			}
			if n := int(c.parts[k].count); n > 0 {
				args := globalAddArguments{batch: x.batch.Buffer, term: term, docs: x.docs.Buffer, components: x.components.Buffer, scores: x.scores.Buffer, first: from, n: to - from}
				if err := globalAdd.Launch(&x.Flight, args, fans(n), local, device.ScoreTime); err != nil {
					return err
				}
			}
			term += termUnits
		}
		if c.end < c.ranges {
			continue
		}
		if at, words := filterOf(c.batch, i); words > 0 {
			args := globalFilterArguments{scores: x.scores.Buffer, n: docs, filters: x.Device.Regions.Buffer(), at: int(at), words: int(words)}
			if err := globalFilter.Launch(&x.Flight, args, fans(docs), local, device.ScoreTime); err != nil {
				return err
			}
		}
		n, below, at := docs, 0, 0
		for _, size := range globalLevels(docs) {
			args := globalMaximaArguments{scores: x.scores.Buffer, maxima: x.maxima.Buffer, n: n, from: below, to: at}
			if err := globalMaxima.Launch(&x.Flight, args, size, local, device.SelectTime); err != nil {
				return err
			}
			n, below, at = size, at, at+size
		}
		args := globalBestArguments{scores: x.scores.Buffer, n: docs, maxima: x.maxima.Buffer, q: q, k: c.batch.K, best: x.state.Buffer,
			bestAt: bestAt(len(c.queries)), state: x.state.Buffer}
		if err := globalBest.Launch(&x.Flight, args, 1, local, device.SelectTime); err != nil {
			return err
		}
	}
	return nil
}
