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

// Steps of kernels/rows.cl in addition to the steps of package plan.
const (
	stepLoad = uint32(plan.StepCheck) + 1 + iota
	stepBits
)

// cut cuts a batch of selections into rounds.
type cut struct {
	sel  *plan.SelectBatch
	with *filter.Set // which the rows of the only selection must be in; nil: none

	// The fields below belong to one round.
	first, count int
	steps        int // steps of all selections, as the kernel has them
	records      int // operands, in units of four words
	sets         int // height of the highest stack
	columns      int // StepAny of one selection at most
	checks       bool
	selectionsAt int // in units of four words
	words        int // words of the upload
	bits         int // words of bits of a selection; 0 if none are made

	skips []uint32 // findSkips: for each step of a selection
	ranks []uint32 // ranks of the operands of a step in directory.order
}

// nextRound takes as many selections from c.first+c.count on as fit a round.
func (c *cut) nextRound(s *Store) {
	c.first, c.count, c.steps, c.records, c.sets, c.columns, c.checks = c.first+c.count, 0, 0, 0, 1, 0, false
	for i := c.first; i < c.sel.Len(); i++ {
		steps := c.sel.Selection(i)
		records, sets, columns := c.measure(steps)
		n, words := c.count+1, head+4*(c.steps+c.records+c.stepsOf(steps)+records)
		if c.count > 0 && (words+8*n > uploadWords || n*s.dir.tiles > maxGroups || n*c.bits > s.mostRows()) {
			break
		}
		c.count, c.steps, c.records = n, c.steps+c.stepsOf(steps), c.records+records
		c.sets, c.columns = max(c.sets, sets), max(c.columns, columns)
	}
	c.selectionsAt = (head + c.count + 3) / 4
	c.words = 4 * (c.selectionsAt + c.count + c.steps + c.records)
}

// stepsOf returns the number of steps of the kernel for a selection.
func (c *cut) stepsOf(steps []plan.Step) int {
	if c.with != nil {
		return len(steps) + 1
	}
	return len(steps)
}

// measure returns the records of operands, the sets and the columns of a selection.
func (c *cut) measure(steps []plan.Step) (records, sets, columns int) {
	depth := 0
	for _, x := range steps {
		switch x.Code {
		case plan.StepAny:
			if columns++; !c.decompresses() {
				records += int(x.To - x.From)
			}
			depth++
			sets = max(sets, depth)
		case plan.StepCheck:
			records += 1 + int(x.To-x.From)
			c.checks = true
		case plan.StepAnd, plan.StepOr, plan.StepAndNot:
			depth--
		}
	}
	return records, sets, columns
}

// findSkips notes for each StepAny the number of steps without effect if the set on top of
// the stack has no rows: the steps that make y of `x y AND` or `x y ANDNOT`, and that last
// one.
func (c *cut) findSkips(steps []plan.Step) {
	c.skips = slices.Grow(c.skips[:0], len(steps))[:len(steps)]
	clear(c.skips)
	var begins [plan.MaxSets]int // the step at which each set of the stack begins
	depth := 0
	for k, x := range steps {
		switch x.Code {
		case plan.StepAny:
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

// features returns the features of the program for the round.
func (c *cut) features() (with device.Features) {
	if c.checks {
		with |= useStored
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

// write puts the round into up, in the layout of kernels/rows.cl.
func (c *cut) write(s *Store, up []uint32) {
	clear(up[:4*c.selectionsAt])
	selection := c.selectionsAt
	step := selection + c.count
	operand := step + c.steps
	put := func(at *int, x, y, z, w uint32) {
		*(*[4]uint32)(up[4**at:]) = [4]uint32{x, y, z, w}
		*at++
	}
	for i := c.first; i < c.first+c.count; i++ {
		steps := c.sel.Selection(i)
		put(&selection, uint32(step), uint32(c.stepsOf(steps)), 0, 0)
		c.findSkips(steps)
		column := uint32(0)
		for k, x := range steps {
			n := x.To - x.From
			switch {
			case x.Code == plan.StepAny && c.decompresses():
				put(&step, stepLoad, column, 0, c.skips[k])
				column++
			case x.Code == plan.StepAny:
				put(&step, uint32(x.Code), uint32(operand), n, c.skips[k])
				c.ranks = c.ranks[:0]
				for _, v := range c.sel.Operands[x.From:x.To] {
					c.ranks = append(c.ranks, s.dir.ranks[v])
				}
				slices.Sort(c.ranks)
				for _, rank := range c.ranks {
					v := s.dir.order[rank]
					put(&operand, s.places[v].Off, v, s.dir.bases[v], s.places[v].Buffer)
				}
			case x.Code == plan.StepCheck:
				values, d := s.values.Load(), s.t.Columns[x.Column]
				low, high := values.places[2*x.Column], values.places[2*x.Column+1]
				put(&step, uint32(x.Code), uint32(operand), n, low.Buffer|high.Buffer<<8)
				put(&operand, low.Off, uint32(d.Low.Words), high.Off, uint32(d.High.Words))
				for _, r := range c.sel.Ranges[x.From:x.To] {
					put(&operand, uint32(r.Lo), uint32(r.Lo>>32), uint32(r.Hi), uint32(r.Hi>>32))
				}
			default:
				put(&step, uint32(x.Code), 0, 0, 0)
			}
		}
		if c.with != nil {
			put(&step, stepBits, uint32(c.with.At()), 0, 0)
		}
	}
}
