package cl

import (
	"heddle/engine/plan"
)

// globalProgram names the program of accumulate_global.cl by one of its kernels.
var globalProgram = kernelID{name: "global_best"}

const globalFan = 512 // FAN in kernels/accumulate_global.cl

// global says whether a batch is answered over accumulators in global memory.
func (c *rankCut) global() bool {
	return c.ranks.Mode == plan.Or && c.ranks.Accumulators == plan.GlobalAccumulators
}

// globalLocal is the size of a work-group of accumulate_global.cl.
func (t Tuning) globalLocal() int {
	if t.Serial {
		return 1
	}
	return 128
}

// globalLevels are the numbers of maxima of each level over n documents, the lowest
// level first; the last one is looked through for every document that is taken out.
func globalLevels(n int) (levels []int) {
	for n = fans(n); n > globalFan; n = fans(n) {
		levels = append(levels, n)
	}
	return append(levels, n)
}

// fans is how many groups share out n numbers.
func fans(n int) int { return (n + globalFan - 1) / globalFan }

// openGlobal makes the accumulators, the maxima and the kernels on first use. For them all
// other buffers go; shorter rounds would not help, so its errors are not isReserved.
func (x *rankSlot) openGlobal() error {
	docs, maxima := int(x.store.src.Docs), 0
	for _, n := range globalLevels(docs) {
		maxima += n
	}
	if x.maxima.words < 2*maxima {
		x.dropAll()
		err := x.room(&x.scores, docs, docs, "accumulators of all documents")
		if err == nil {
			err = x.room(&x.maxima, 2*maxima, 2*maxima, "maxima of accumulators")
		}
		if isReserved(err) {
			err = x.backend.outOfMemory("ranking", err)
		}
		if err != nil {
			return err
		}
	}
	if x.kernels[globalProgram] != nil {
		return nil
	}
	return x.create(globalProgram, "global_clear", "global_add", "global_maxima", "global_best")
}

// sendGlobal enqueues what answers the queries of a window, one after the other: a
// launch a list, and after the last window one a level of maxima and one that takes
// out the best. It runs in Backend.do.
func (x *rankSlot) sendGlobal(c *rankCut, first bool) error {
	docs, local := int(x.store.src.Docs), x.backend.tuning.globalLocal()
	from := c.first * c.span
	to := min(c.end*c.span, docs)
	launch := func(name string, groups int, args ...any) error {
		k := x.kernels[kernelID{name: name}]
		if err := arguments(k, args...); err != nil {
			return err
		}
		stage := scoreTime
		if name == "global_maxima" || name == "global_best" {
			stage = selectTime
		}
		return x.launch(k, groups, local, stage)
	}
	term := c.termsAt
	for q, i := range c.queries {
		if first {
			if err := launch("global_clear", fans(docs), x.scores.buffer, docs); err != nil {
				return err
			}
		}
		for _, t := range c.ranks.Query(i) {
			k, ok := c.known[t.List]
			if !ok {
				continue
			}
			if n := int(c.parts[k].count); n > 0 {
				if err := launch("global_add", fans(n), x.batch, term, x.docs.buffer, x.shares.buffer, x.scores.buffer, from, to-from); err != nil {
					return err
				}
			}
			term += rankTerms4
		}
		if c.end < c.ranges {
			continue
		}
		n, below, at := docs, 0, 0
		for _, size := range globalLevels(docs) {
			if err := launch("global_maxima", size, x.scores.buffer, x.maxima.buffer, n, below, at); err != nil {
				return err
			}
			n, below, at = size, at, at+size
		}
		if err := launch("global_best", 1, x.scores.buffer, docs, x.maxima.buffer, q, c.ranks.K, x.best.buffer, x.state.buffer); err != nil {
			return err
		}
	}
	return nil
}
