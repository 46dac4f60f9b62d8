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
func globalLocal(t device.Tuning) int {
	if t.Serial {
		return 1
	}
	return 128
}

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
	if x.Kernel("global_best") != nil {
		return nil
	}
	return x.Create(device.KernelID{Name: "global_best"}, "global_clear", "global_add", "global_filter", "global_maxima", "global_best")
}

// sendGlobal enqueues the queries of a window, one after the other: a launch per list, and
// after the last window one for a filter, one per level of maxima and one that takes the best documents. It
// runs in Runtime.Do.
func (x *slot) sendGlobal(c *cut, first bool) error {
	docs, local := int(x.ranker.set.Src.Docs), globalLocal(x.Device.Tuning)
	from := c.first * c.span
	to := min(c.end*c.span, docs)
	launch := func(name string, groups int, args ...any) error {
		k := x.Kernel(name)
		if err := device.SetArguments(k, args...); err != nil {
			return err
		}
		stage := device.ScoreTime
		switch name {
		case "global_clear":
			stage = device.ClearTime
		case "global_maxima", "global_best":
			stage = device.SelectTime
		}
		return x.Launch(k, groups, local, stage)
	}
	term := c.termsAt
	for q, i := range c.queries {
		if first {
			if err := launch("global_clear", fans(docs), x.scores.Buffer, docs); err != nil {
				return err
			}
		}
		for _, t := range c.batch.Query(i) {
			k, ok := c.known[t.List]
			if !ok {
				continue
			}
			if n := int(c.parts[k].count); n > 0 {
				if err := launch("global_add", fans(n), x.batch.Buffer, term, x.docs.Buffer, x.components.Buffer, x.scores.Buffer, from, to-from); err != nil {
					return err
				}
			}
			term += termUnits
		}
		if c.end < c.ranges {
			continue
		}
		if at, words := filterOf(c.batch, i); words > 0 {
			if err := launch("global_filter", fans(docs), x.scores.Buffer, docs, x.Device.Regions.Buffer(), int(at), int(words)); err != nil {
				return err
			}
		}
		n, below, at := docs, 0, 0
		for _, size := range globalLevels(docs) {
			if err := launch("global_maxima", size, x.scores.Buffer, x.maxima.Buffer, n, below, at); err != nil {
				return err
			}
			n, below, at = size, at, at+size
		}
		if err := launch("global_best", 1, x.scores.Buffer, docs, x.maxima.Buffer, q, c.batch.K, x.state.Buffer, bestAt(len(c.queries)), x.state.Buffer); err != nil {
			return err
		}
	}
	return nil
}
