package bitmap

import (
	"slices"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/engine/plan"
)

// Limits of a round of several selections.
const (
	uploadWords = 1 << 20 // words
	maxGroups   = 1 << 22 // work-groups
	maxRows     = 1 << 24 // words of bits that come back
	maxDepth    = plan.MaxSets
	head        = 4 // words in front of the counts
	turnWord    = 2 // the one with the number of the round
)

// Steps of kernels/step.cl in addition to the steps of package plan.
const (
	stepLoad = uint32(plan.StepCompare) + 1 + iota
	stepBits
	stepListed
)

// cut cuts a batch of selections into rounds.
type cut struct {
	sel    *plan.SelectBatch
	values *values     // which checks need
	stride int         // words of the bits of a selection
	with   *filter.Set // which the rows of the only selection must be in; nil: none

	// The fields below belong to one round. It has some selections in slices alone, then checks of the others, then
	// these.
	first, count int
	sliced       int  // selections in slices alone
	checks       int  // checks of the other selections
	codes        bool // some selection looksUp
	steps        int  // steps of all selections and checks, as the kernels have them
	records      int  // operands, in units of four words
	sets         int  // height of the highest stack
	columns      int  // StepAny of one selection at most
	selectionsAt int  // in units of four words
	words        int  // words of the upload
	bits         int  // words of bits of a selection; 0 if none are made

	skips []uint32 // findSkips: for each step of a selection
	ranks []uint32 // ranks of the operands of a step in directory.order
}

// needs are the parts of a round that a selection takes.
type needs struct{ steps, records, sets, columns, checks int }

// nextRound takes as many selections from c.first+c.count on as fit a round.
func (c *cut) nextRound(s *Store) {
	c.first, c.count, c.sliced, c.checks, c.steps, c.records, c.sets, c.columns, c.codes = c.first+c.count, 0, 0, 0, 0, 0, 1, 0, false
	for i := c.first; i < c.sel.Len(); i++ {
		steps := c.sel.Selection(i)
		n := c.measure(steps)
		count, words := c.count+1, head+4*(c.steps+c.records+n.steps+n.records)
		bits := count*c.bits + (c.checks+n.checks)*c.checkStride()
		if c.count > 0 && (words+8*(count+c.checks+n.checks) > uploadWords || count*s.dir.tiles > maxGroups || bits > s.mostRows()) {
			break
		}
		c.count, c.checks, c.steps, c.records = count, c.checks+n.checks, c.steps+n.steps, c.records+n.records
		c.sets, c.columns, c.codes = max(c.sets, n.sets), max(c.columns, n.columns), c.codes || looksUp(steps)
		if inSlices(steps) {
			c.sliced++
		}
	}
	all := c.count + c.checks
	c.selectionsAt = (head + all + 3) / 4
	c.words = 4 * (c.selectionsAt + all + c.steps + c.records)
}

// checkStride is the number of words of the bits of a check.
func (c *cut) checkStride() int { return (c.stride + 3) / 4 * 4 }

// inSlices tells whether the slices of stored values alone answer a selection.
func inSlices(steps []plan.Step) bool {
	checks := false
	for _, x := range steps {
		if x.Code == plan.StepAny && x.To > x.From {
			return false
		}
		checks = checks || isCheck(x)
	}
	return checks
}

// isCheck tells whether a step reads stored values.
func isCheck(x plan.Step) bool { return x.Code == plan.StepCheck || x.Code == plan.StepCompare }

// measure returns what a selection needs.
func (c *cut) measure(steps []plan.Step) (n needs) {
	n.steps = len(steps)
	if c.with != nil {
		n.steps++
	}
	depth, checks := 0, 0
	for _, x := range steps {
		switch x.Code {
		case plan.StepAny:
			if n.columns++; !c.decompresses() {
				n.records += int(x.To - x.From)
			}
			depth++
			n.sets = max(n.sets, depth)
		case plan.StepAll:
			depth++
			n.sets = max(n.sets, depth)
		case plan.StepCheck:
			checks++
			ranges, listed := c.rangesOf(x)
			n.records += len(ranges) + (listed+3)/4
		case plan.StepCompare:
			checks++
			n.records += 2
		case plan.StepAnd, plan.StepOr, plan.StepAndNot:
			depth--
		}
	}
	if inSlices(steps) {
		n.sets, n.columns = 1, 0
	} else {
		n.checks = checks
		n.steps += 2 * checks // a selection of two steps for each check
	}
	return n
}

// mostListed is the number of codes of a list of bits at most: 128 KiB, which caches of work-groups hold.
const mostListed = 1 << 20

// rangesOf returns the ranges of a check that some code of the column may lie in, and the number of words of their list of
// bits; 0: none.
func (c *cut) rangesOf(x plan.Step) (ranges []plan.CodeRange, listed int) {
	ranges = c.sel.Ranges[x.From:x.To]
	if len(ranges) <= sliceRanges {
		return ranges, 0
	}
	last := c.values.columns[x.Column].last
	for len(ranges) > 0 && ranges[len(ranges)-1].Lo > last {
		ranges = ranges[:len(ranges)-1]
	}
	if len(ranges) <= sliceRanges {
		return ranges, 0
	}
	if span := min(ranges[len(ranges)-1].Hi, last) - ranges[0].Lo; span < mostListed {
		return ranges, int(span/32) + 1
	}
	return ranges, 0
}

// findSkips notes for each step that pushes a set the number of steps without effect if the set on top of
// the stack has no rows: the steps that make y of `x y AND` or `x y ANDNOT`, and that last
// one.
func (c *cut) findSkips(steps []plan.Step) {
	c.skips = slices.Grow(c.skips[:0], len(steps))[:len(steps)]
	clear(c.skips)
	var begins [plan.MaxSets]int // the step at which each set of the stack begins
	depth := 0
	for k, x := range steps {
		switch x.Code {
		case plan.StepAny, plan.StepAll:
			begins[depth] = k
			depth++
		case plan.StepOr:
			depth--
		case plan.StepAnd, plan.StepAndNot:
			depth--
			c.skips[begins[depth]] = uint32(k + 1 - begins[depth])
		}
	}
}

// sliceRanges is SLICE_RANGES of the kernel.
const sliceRanges = 4

// looksUp tells whether steps take a program with useCodes.
func looksUp(steps []plan.Step) bool {
	return slices.ContainsFunc(steps, func(x plan.Step) bool {
		return x.Code == plan.StepCompare || x.Code == plan.StepCheck && x.To-x.From > sliceRanges
	})
}

// features returns the features of the program of rows.cl for the round.
func (c *cut) features() (with device.Features) {
	if c.checks > 0 {
		with |= useChecks
	}
	if c.decompresses() {
		with |= useColumns
	}
	return with
}

// decompresses tells whether a strategy of Nelson et al. makes the sets of StepAny.
func (c *cut) decompresses() bool {
	return c.sel.Strategy != plan.StrategyAuto && c.sel.Strategy != plan.Fused
}

// mostRows is the number of words of bits of a round of several selections at most: a
// sixteenth of the memory.
func (s *Store) mostRows() int {
	return int(min(s.rt.Info.Memory/64, s.rt.Memory.Size()/64, s.rt.Info.MaxAlloc/4, maxRows))
}

// write puts the round into up, in the layout of kernels/step.cl.
func (c *cut) write(s *Store, up []uint32) {
	clear(up[:4*c.selectionsAt])
	w := writer{c, s, up, c.selectionsAt, c.selectionsAt + c.count + c.checks, 0}
	w.operand = w.step + c.steps
	for i := range c.count {
		if steps := c.sel.Selection(c.first + i); inSlices(steps) {
			w.selection(steps, i, i)
		}
	}
	check := 0
	for i := range c.count {
		if steps := c.sel.Selection(c.first + i); !inSlices(steps) {
			for _, x := range steps {
				if isCheck(x) {
					w.put(&w.at, uint32(w.step), 2, uint32(c.count+check), uint32(check))
					w.put(&w.step, uint32(plan.StepAll), 0, 0, 0)
					w.check(x)
					check++
				}
			}
		}
	}
	check = 0
	for i := range c.count {
		if steps := c.sel.Selection(c.first + i); !inSlices(steps) {
			check = w.selection(steps, i, check)
		}
	}
}

// writer writes a round. Its places count units of four words.
type writer struct {
	*cut
	s                 *Store
	up                []uint32
	at, step, operand int
}

func (w *writer) put(at *int, x, y, z, last uint32) {
	*(*[4]uint32)(w.up[4**at:]) = [4]uint32{x, y, z, last}
	*at++
}

// check writes a step of slices.cl.
func (w *writer) check(x plan.Step) {
	if x.Code == plan.StepCompare {
		w.compare(&w.sel.Comparisons[x.From])
		return
	}
	ranges, listed := w.rangesOf(x)
	code := uint32(x.Code)
	if listed > 0 {
		code = stepListed
	}
	w.put(&w.step, code, uint32(w.operand), uint32(len(ranges)), x.Column)
	bits := w.up[4*(w.operand+len(ranges)):][:(listed+3)/4*4]
	clear(bits)
	for _, r := range ranges {
		if listed > 0 {
			r.Hi = min(r.Hi, w.values.columns[x.Column].last)
			setBits(bits, uint32(r.Lo-ranges[0].Lo), uint32(r.Hi-ranges[0].Lo))
		}
		w.put(&w.operand, uint32(r.Lo), uint32(r.Lo>>32), uint32(r.Hi), uint32(r.Hi>>32))
	}
	w.operand += len(bits) / 4
}

// Orders of STEP_COMPARE.
const (
	orderLess = 1 << iota
	orderEqual
	orderGreater
)

func (w *writer) compare(c *plan.Comparison) {
	orders := uint32(0)
	if c.Less {
		orders = orderLess
	}
	if c.Equal {
		orders |= orderEqual
	}
	if c.Greater {
		orders |= orderGreater
	}
	w.put(&w.step, uint32(plan.StepCompare), uint32(w.operand), 2, orders)
	w.put(&w.operand, c.Columns[0], c.Columns[1], 0, 0)
	w.put(&w.operand, uint32(c.Base[0]), uint32(c.Base[0]>>32), uint32(c.Base[1]), uint32(c.Base[1]>>32))
}

// setBits sets the bits from one to another one, both included.
func setBits(words []uint32, from, to uint32) {
	first, last := ^uint32(0)<<(from%32), ^uint32(0)>>(31-to%32)
	if from/32 == to/32 {
		words[from/32] |= first & last
		return
	}
	words[from/32] |= first
	for i := from/32 + 1; i < to/32; i++ {
		words[i] = ^uint32(0)
	}
	words[to/32] |= last
}

// selection writes selection i of the round. If it is not in slices alone, the bits of its checks have numbers from check
// on. It returns the number after them.
func (w *writer) selection(steps []plan.Step, i, check int) int {
	sliced, start := inSlices(steps), w.step
	w.findSkips(steps)
	column := uint32(0)
	for k, x := range steps {
		switch {
		case x.Code == plan.StepAny && w.decompresses() && !sliced:
			w.put(&w.step, stepLoad, column, 0, w.skips[k])
			column++
		case x.Code == plan.StepAny:
			w.put(&w.step, uint32(x.Code), uint32(w.operand), x.To-x.From, w.skips[k])
			w.ranks = w.ranks[:0]
			for _, v := range w.sel.Operands[x.From:x.To] {
				w.ranks = append(w.ranks, w.s.dir.ranks[v])
			}
			slices.Sort(w.ranks)
			for _, rank := range w.ranks {
				v := w.s.dir.order[rank]
				w.put(&w.operand, w.s.places[v].Off, v, w.s.dir.bases[v], w.s.places[v].Buffer)
			}
		case isCheck(x) && sliced:
			w.check(x)
		case isCheck(x):
			w.put(&w.step, stepBits, uint32(check*w.checkStride()/4), 1, 0)
			check++
		default:
			w.put(&w.step, uint32(x.Code), 0, 0, w.skips[k])
		}
	}
	if w.with != nil {
		w.put(&w.step, stepBits, uint32(w.with.At()), 0, 0)
	}
	w.put(&w.at, uint32(start), uint32(w.step-start), uint32(i), uint32(i))
	return check
}
