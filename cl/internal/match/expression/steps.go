package expression

import (
	"fmt"
	"slices"

	"heddle/cl/internal/filter"
	"heddle/codec"
	"heddle/engine/plan"
)

// compile appends the operands and steps of an expression and the records of its next
// ranges. Lists that are combined with the top of the stack at once need no set of their
// own. Lists that meet the same set in the same way make one step.
// The documents of f alone remain, or all without one.
func (c *cut) compile(ops []plan.Op, f *filter.Set, ranges int) {
	p := compiler{c: c, page: len(c.operands)}
	first := len(c.steps)
	for i := 0; i < len(ops); i++ {
		if ops[i].Code != plan.OpList {
			p.depth--
			c.steps = append(c.steps, p.step(stepAnd2+int(ops[i].Code-plan.OpAnd), p.depth-1, 0, 0))
			continue
		}
		code, run := plan.OpOr, p.run[:0]
		if p.depth > 0 && i+1 < len(ops) && ops[i+1].Code != plan.OpList && ops[i+1].Code != plan.OpNotAnd {
			code = ops[i+1].Code
		} else { // a set of its own, and the lists that are ORed to it
			run = append(run, ops[i].List)
			i++
			c.steps = append(c.steps, p.step(stepClear, p.depth, 0, 0))
			p.depth++
		}
		for ; i+1 < len(ops) && ops[i].Code == plan.OpList && ops[i+1].Code == code; i += 2 {
			run = append(run, ops[i].List)
		}
		i-- // the loop continues behind the run
		p.join(code, run)
		p.run = run
	}
	if f != nil {
		c.steps = append(c.steps, p.step(stepAnd, 0, len(c.operands), 1))
		c.operands = append(c.operands, bitsOf(f.Bits()))
		c.filtered = true
	}
	for i := range ranges {
		c.groupRecords = append(c.groupRecords, [4]uint32{uint32(first), uint32(len(c.steps) - first), c.rangeAt(c.done + i), 0})
	}
	c.levels = max(c.levels, p.levels)
	for _, o := range c.operands[p.page:] { // every element once, or 32 of them as a word of bits
		if o[3]&operandBits != 0 {
			c.bytesMoved += uint64(ranges) * rangeLen / 8
		} else {
			c.bytesMoved += 4 * uint64(o[1])
		}
	}
	c.bytesMoved += uint64(ranges) * rangeLen / 8
}

// compiler turns an expression into steps.
type compiler struct {
	c             *cut
	depth, levels int
	page          int // first operand of the expression
	run           []plan.Handle
}

func (p *compiler) step(does, level, operand, count int) [4]uint32 {
	p.levels = max(p.levels, level+1)
	if does >= stepAnd2 {
		p.levels = max(p.levels, level+2)
	}
	return [4]uint32{uint32(does | level<<8), uint32(operand), uint32(count), 0}
}

// join combines lists with the set on top of the stack.
func (p *compiler) join(code plan.OpCode, postings []plan.Handle) {
	c, top := p.c, p.depth-1
	// Lists of bits first, then lists of docIDs.
	at := len(c.operands)
	for _, bits := range []uint32{operandBits, 0} {
		for _, h := range postings {
			if o := c.operandOf(h); o[3]&operandBits == bits {
				c.operands = append(c.operands, o)
			}
		}
	}
	elements := at
	for elements < len(c.operands) && c.operands[elements][3]&operandBits != 0 {
		elements++
	}
	words := map[plan.OpCode]int{plan.OpOr: stepOr, plan.OpAnd: stepAnd, plan.OpAndNot: stepAndNot}[code]
	if elements > at {
		c.steps = append(c.steps, p.step(words, top, at, elements-at))
	}
	for at = elements; at < len(c.operands); {
		n := min(len(c.operands)-at, page)
		c.steps = append(c.steps, p.step(stepFind, top, at, n))
		switch code {
		case plan.OpOr:
			c.steps = append(c.steps, p.step(stepSet, top, at, n))
		case plan.OpAndNot:
			c.steps = append(c.steps, p.step(stepUnset, top, at, n))
		default: // each has a set above
			for i := range n {
				set := p.step(stepSet, top+1, at+i, 1)
				set[3] = uint32(i)
				c.steps = append(c.steps, p.step(stepClear, top+1, 0, 0), set, p.step(stepAnd2, top, 0, 0))
			}
		}
		at += n
	}
}

// prune finds the ranges where an expression can match, if its lists are so short that
// most ranges have no documents of them. This costs the host less than a visit to all
// ranges costs the device.
func (c *cut) prune(ops []plan.Op) error {
	src := c.set.Src
	total, all := uint64(0), uint64(src.Docs)/rangeLen
	for _, op := range ops {
		if op.Code == plan.OpList {
			total += uint64(src.Lists[op.List].Len)
		}
	}
	if c.sparse = 4*total < all; !c.sparse {
		return nil
	}
	var stack [][]uint32
	for _, op := range ops {
		if op.Code == plan.OpList {
			touched, err := rangesOf(src.List(op.List))
			if err != nil {
				return fmt.Errorf("list %d: %w", op.List, err)
			}
			stack = append(stack, touched)
			continue
		}
		x, y := stack[len(stack)-2], stack[len(stack)-1]
		switch op.Code {
		case plan.OpAnd:
			x = slices.DeleteFunc(x, func(r uint32) bool {
				_, found := slices.BinarySearch(y, r)
				return !found
			})
		case plan.OpOr:
			x = slices.Concat(x, y)
			slices.Sort(x)
			x = slices.Compact(x)
		case plan.OpNotAnd:
			x = y
		}
		stack = append(stack[:len(stack)-2], x)
	}
	c.ranges = nil
	if len(stack) > 0 {
		c.ranges = stack[0]
	}
	return nil
}

// rangesOf returns the ranges with documents of a list.
func rangesOf(list codec.List) (ranges []uint32, err error) {
	if list.Len == 0 {
		return nil, nil
	}
	var b codec.Blocks
	if err := b.Open(list); err != nil {
		return nil, err
	}
	var docs []uint32
	for k := range b.Count() {
		if docs, err = b.Decode(docs[:0], k); err != nil {
			return nil, err
		}
		for _, x := range docs {
			if n := len(ranges); n == 0 || ranges[n-1] != x/rangeLen {
				ranges = append(ranges, x/rangeLen)
			}
		}
	}
	return ranges, nil
}
