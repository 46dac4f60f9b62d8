package cl

import (
	"context"
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// formulaCut cuts a batch of formulas into rounds: as many whole formulas as fit,
// or some ranges of a large one. The fields below the line are those of the
// round.
type formulaCut struct {
	store    *Store
	formulas *plan.MatchBatch
	tables   *tables

	formula int // the next
	done    int // of its ranges
	// ranges are those where the next formula can match at all, if most are not.
	ranges []uint32
	sparse bool

	first, count     int   // formulas
	firstGroup       []int // of each
	groups           int
	levels           int
	decoded          map[plan.Handle]formulaOperand
	decodedWords     int
	operands         []formulaOperand
	steps            [][4]uint32
	groupRecords     [][4]uint32
	runs             [len(decoders)][][runWords]uint32
	stepsAt, groupAt int                // in uint4
	runsAt           [len(decoders)]int // in uint4
	sumsAt, words    int                // in words
	bytesMoved       uint64             // that the kernels ask for, but for the docIDs
}

// formulaOperand is a record of an operand: {offset, words, 0, kind | buffer<<8}.
type formulaOperand [4]uint32

const (
	operandBits = 1
	fromDecoded = 4 << 8
	fromAux     = 5 << 8
)

// Steps of kernels/formula.cl.
const (
	stepFind = iota
	stepClear
	stepSet
	stepUnset
	stepOr
	stepAnd
	stepAndNot
	stepAnd2
)

// next makes the next round in the upload of x. Rounds without groups are those
// of formulas that match nothing.
func (c *formulaCut) next(ctx context.Context, x *formulaSlot) error {
	c.first, c.count, c.groups, c.levels = c.formula, 0, 0, 1
	c.firstGroup, c.operands, c.steps, c.groupRecords = c.firstGroup[:0], c.operands[:0], c.steps[:0], c.groupRecords[:0]
	clear(c.decoded)
	c.decodedWords, c.bytesMoved = 0, 0
	for d := range c.runs {
		c.runs[d] = c.runs[d][:0]
	}
	for c.formula < c.formulas.Queries() {
		ops := c.formulas.Expression(c.formula)
		if c.done == 0 {
			if err := c.prune(ops); err != nil {
				return err
			}
		}
		n, before := c.rangeCount(ops), c.done
		fits, err := c.add(ctx, x, ops, n)
		if err != nil {
			return err
		}
		if c.done == n {
			c.formula, c.done = c.formula+1, 0
		}
		// Formulas that are not whole decode parts of lists, which are of no use to
		// others.
		if !fits || before > 0 || c.done > 0 {
			break
		}
	}
	return c.write(x)
}

// rangeCount is the number of ranges to evaluate ops in.
func (c *formulaCut) rangeCount(ops []plan.Op) int {
	switch {
	case len(ops) == 0:
		return 0
	case c.sparse:
		return len(c.ranges)
	}
	return int((uint64(c.store.src.Docs) + formulaRange - 1) / formulaRange)
}

// rangeAt is the number of range i of the formula.
func (c *formulaCut) rangeAt(i int) uint32 {
	if c.sparse {
		return c.ranges[i]
	}
	return uint32(i)
}

// add takes the formula into the round, or as many of its n ranges as there is
// room for if the round has no other. It reports whether it took any.
func (c *formulaCut) add(ctx context.Context, x *formulaSlot, ops []plan.Op, n int) (bool, error) {
	alone := c.count == 0
	operands := 0
	for _, op := range ops {
		if op.Code == plan.OpList {
			operands++
		}
	}
	if operands > formulaOperands {
		return false, c.store.backend.tooLarge(fmt.Errorf("formula %d names %d lists, at most %d are possible", c.formula, operands, formulaOperands))
	}
	take := n - c.done
	if take > x.shape.groups-c.groups || len(c.operands)+operands > formulaOperands {
		if !alone {
			return false, nil
		}
		take = min(take, x.shape.groups)
	}
	for take > 0 {
		before, moved := c.decodedWords, c.bytesMoved
		need, err := c.decode(ops, take, take == n)
		if err != nil {
			return false, err
		}
		if need <= x.room() {
			break
		}
		for h, o := range c.decoded { // what this one has put there
			if int(o[0])*4 >= before {
				delete(c.decoded, h)
			}
		}
		c.decodedWords, c.bytesMoved = before, moved
		for d := range c.runs {
			c.runs[d] = slices.DeleteFunc(c.runs[d], func(r [runWords]uint32) bool { return int(r[6])*4 >= before })
		}
		switch {
		case !alone:
			return false, nil
		case take > 1:
			take = (take + 1) / 2
		default: // one range of many lists
			if err := x.grow(ctx, need); err != nil {
				return false, err
			}
		}
	}
	c.firstGroup = append(c.firstGroup, c.groups)
	c.count++
	if take > 0 {
		c.compile(ops, take)
	}
	c.done += take
	c.groups += take
	return true, nil
}

// decode gives every compressed list of ops a place, from which on it will lie
// decoded, all of it or what the next ranges need, and returns the words that all
// lists of the round take.
func (c *formulaCut) decode(ops []plan.Op, ranges int, whole bool) (words int, err error) {
	from, last := uint64(0), uint64(c.store.src.Docs)-1
	if !whole {
		from = uint64(c.rangeAt(c.done)) * formulaRange
		last = min((uint64(c.rangeAt(c.done+ranges-1))+1)*formulaRange-1, last)
	}
	for _, op := range ops {
		if op.Code != plan.OpList {
			continue
		}
		list := c.store.src.List(op.List)
		d := decoderOf(list.Codec)
		if _, ok := c.asItLies(op.List); ok || d == noDecoder {
			continue
		}
		if _, ok := c.decoded[op.List]; ok {
			continue
		}
		begin, end, err := elementsBetween(list, uint32(from), uint32(last))
		if err != nil {
			return 0, fmt.Errorf("list %d: %w", op.List, err)
		}
		r := &c.tables.records[op.List]
		at := uint32(c.decodedWords / 4)
		c.decoded[op.List] = formulaOperand{at, end - begin, 0, fromDecoded}
		for done := uint32(0); done < end-begin; done += runLen {
			c.runs[d] = append(c.runs[d], [runWords]uint32{r[0], r[1], r[2], r[3],
				begin + done, min(end-begin-done, runLen), at + done/4, 0})
		}
		c.decodedWords += int(end-begin+decodeRound-1) / decodeRound * decodeRound
		c.bytesMoved += 4 * uint64(end-begin) * (1 + uint64(len(list.Words))/uint64(list.Len))
	}
	return c.decodedWords, nil
}

// decodeRound is what decoders may write beyond a run is a part of, in words.
const decodeRound = 256

// elementsBetween gives the indexes of a part of list that has all docIDs from
// the first to the last; it begins where a run may begin.
func elementsBetween(list codec.List, first, last uint32) (begin, end uint32, err error) {
	if list.Len == 0 {
		return 0, 0, nil
	}
	var b codec.Blocks
	if err := b.Open(list); err != nil {
		return 0, 0, err
	}
	k := b.Find(first)
	if k == b.Count() {
		return 0, 0, nil
	}
	begin, end = uint32(b.Start(k))/runLen*runLen, list.Len
	if k = b.Find(last); k < b.Count() {
		end = uint32(b.Start(k + 1))
	}
	return begin, max(begin, end), nil
}

// asItLies gives the operand of a list that needs no decoding: docIDs or bits in
// the arena, or a bitset of the tables, which is joined without a search.
func (c *formulaCut) asItLies(h plan.Handle) (formulaOperand, bool) {
	r := &c.tables.records[h]
	buffer := r.buffer() << 8
	id := r.codec()
	switch {
	case r.length() == 0:
		return formulaOperand{}, true
	case id == codec.Bitset:
		return formulaOperand{r[0], r[2] / 17 * 16, 0, operandBits | buffer}, true
	case r.kind() == probeBits:
		return formulaOperand{r[4], r.entries(), 0, operandBits | fromAux}, true
	case id == codec.Raw:
		return formulaOperand{r[0], min(r.length(), r[2]), 0, buffer}, true
	}
	return formulaOperand{}, false
}

// operand is what the kernel reads of list h.
func (c *formulaCut) operand(h plan.Handle) formulaOperand {
	if o, ok := c.asItLies(h); ok {
		return o
	}
	return c.decoded[h]
}

// write puts the round's records into the upload of x.
func (c *formulaCut) write(x *formulaSlot) error {
	up := x.up.words
	at := len(c.operands)
	c.stepsAt = at
	at += len(c.steps)
	c.groupAt = at
	at += len(c.groupRecords)
	for d, runs := range c.runs {
		c.runsAt[d] = at
		at += len(runs) * runWords / 4
	}
	c.sumsAt = 4 * at
	c.words = c.sumsAt + (c.groups+blockTiles-1)/blockTiles
	if c.words > len(up) {
		return c.store.backend.tooLarge(fmt.Errorf("formulas take %d words of an upload, there is room for %d", c.words, len(up)))
	}
	clear(up[c.sumsAt:c.words])
	for i, o := range c.operands {
		copy(up[4*i:], o[:])
	}
	for i, r := range c.steps {
		copy(up[4*(c.stepsAt+i):], r[:])
	}
	for i, r := range c.groupRecords {
		copy(up[4*(c.groupAt+i):], r[:])
	}
	for d, runs := range c.runs {
		for i, r := range runs {
			copy(up[4*c.runsAt[d]+runWords*i:], r[:])
		}
	}
	return nil
}
