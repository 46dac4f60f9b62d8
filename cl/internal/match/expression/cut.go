package expression

import (
	"context"
	"fmt"
	"slices"

	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// cut cuts a batch of expressions into rounds: as many whole expressions as fit, or
// some ranges of documents of a large one.
type cut struct {
	set    *lists.Set
	batch  *plan.MatchBatch
	tables *lists.Tables
	into   []*filter.Set // filters that the documents become, by expression; nil: none

	query int // the next expression
	done  int // ranges of it that are done
	// The ranges where the next expression can match, if it is sparse: if it cannot match
	// in most ranges.
	ranges []uint32
	sparse bool

	// The fields below belong to one round.
	first, count     int   // expressions
	firstGroup       []int // the first group of each expression
	groups           int
	from             int // the first range of the first expression
	levels           int
	filtered         bool // an expression has a filter
	decoded          map[plan.Handle]operand
	decodedWords     int
	operands         []operand
	steps            [][4]uint32
	groupRecords     [][4]uint32
	runs             [len(lists.Decoders)][][lists.RunWords]uint32
	stepsAt, groupAt int                      // in uint4
	runsAt           [len(lists.Decoders)]int // in uint4
	sumsAt, words    int                      // in words
	bytesMoved       uint64                   // that the kernels load and store, without docIDs
}

// operand is the record of a list: {offset, words, 0, kind | buffer<<8}.
type operand [4]uint32

const (
	operandBits = 1
	fromDecoded = 4 << 8
	fromAux     = 5 << 8
)

// Steps of kernels/expression.cl.
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

// nextRound makes the next round in the upload of x. A round of expressions that match
// nothing has no groups.
func (c *cut) nextRound(ctx context.Context, x *slot) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	c.first, c.count, c.groups, c.levels, c.from = c.query, 0, 0, 1, c.done
	c.firstGroup, c.operands, c.steps, c.groupRecords = c.firstGroup[:0], c.operands[:0], c.steps[:0], c.groupRecords[:0]
	clear(c.decoded)
	c.decodedWords, c.bytesMoved, c.filtered = 0, 0, false
	for d := range c.runs {
		c.runs[d] = c.runs[d][:0]
	}
	for c.query < c.batch.Queries() {
		ops := c.batch.Expression(c.query)
		if c.done == 0 && c.into == nil { // a filter needs the bits of all ranges
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
			c.query, c.done = c.query+1, 0
		}
		// An incomplete expression decodes parts of lists, which no other one can use.
		if !fits || before > 0 || c.done > 0 {
			break
		}
	}
	return c.write(x)
}

// rangeCount returns the number of ranges to evaluate ops in.
func (c *cut) rangeCount(ops []plan.Op) int {
	switch {
	case len(ops) == 0:
		return 0
	case c.sparse:
		return len(c.ranges)
	}
	return int((uint64(c.set.Src.Docs) + rangeLen - 1) / rangeLen)
}

// rangeAt returns the number of range i of the expression.
func (c *cut) rangeAt(i int) uint32 {
	if c.sparse {
		return c.ranges[i]
	}
	return uint32(i)
}

// add adds an expression to the round, or as many of its n ranges as there is room for if
// the round is empty. It reports whether it added any.
func (c *cut) add(ctx context.Context, x *slot, ops []plan.Op, n int) (bool, error) {
	alone := c.count == 0
	f, operands := filter.Of(c.batch.Filter(c.query)), 0
	if f != nil {
		operands++
	}
	for _, op := range ops {
		if op.Code == plan.OpList {
			operands++
		}
	}
	if operands > maxOperands {
		return false, tooLarge(c.set.Device, fmt.Errorf("boolean expression %d names %d lists, at most %d are possible", c.query, operands, maxOperands))
	}
	take := n - c.done
	if take > x.shape.groups-c.groups || len(c.operands)+operands > maxOperands {
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
		for h, o := range c.decoded { // undo
			if int(o[0])*4 >= before {
				delete(c.decoded, h)
			}
		}
		c.decodedWords, c.bytesMoved = before, moved
		for d := range c.runs {
			c.runs[d] = slices.DeleteFunc(c.runs[d], func(r [lists.RunWords]uint32) bool { return int(r[6])*4 >= before })
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
		c.compile(ops, f, take)
	}
	c.done += take
	c.groups += take
	return true, nil
}

// decode gives every compressed list of ops a place for its docIDs: all of them, or the
// part that the next ranges need. It returns the decoded words of the round.
func (c *cut) decode(ops []plan.Op, ranges int, whole bool) (words int, err error) {
	from, last := uint64(0), uint64(c.set.Src.Docs)-1
	if !whole {
		from = uint64(c.rangeAt(c.done)) * rangeLen
		last = min((uint64(c.rangeAt(c.done+ranges-1))+1)*rangeLen-1, last)
	}
	for _, op := range ops {
		if op.Code != plan.OpList {
			continue
		}
		list := c.set.Src.List(op.List)
		d := lists.DecoderOf(list.Codec)
		if _, ok := c.asItLies(op.List); ok || d == lists.NoDecoder {
			continue
		}
		if _, ok := c.decoded[op.List]; ok {
			continue
		}
		begin, end, err := lists.Between(list, uint32(from), uint32(last))
		if err != nil {
			return 0, fmt.Errorf("list %d: %w", op.List, err)
		}
		r := &c.tables.Records[op.List]
		at := uint32(c.decodedWords / 4)
		c.decoded[op.List] = operand{at, end - begin, 0, fromDecoded}
		for done := uint32(0); done < end-begin; done += lists.RunLen {
			c.runs[d] = append(c.runs[d], [lists.RunWords]uint32{r[0], r[1], r[2], r[3],
				begin + done, min(end-begin-done, lists.RunLen), at + done/4, 0})
		}
		c.decodedWords += int(end-begin+lists.DecodeRound-1) / lists.DecodeRound * lists.DecodeRound
		c.bytesMoved += 4 * uint64(end-begin) * (1 + uint64(len(list.Words))/uint64(list.Len))
	}
	return c.decodedWords, nil
}

// asItLies returns the operand of a list that needs no decoding: docIDs or bits in the
// arena, or a bitset of the tables.
func (c *cut) asItLies(h plan.Handle) (operand, bool) {
	r := &c.tables.Records[h]
	buffer := r.Buffer() << 8
	id := r.Codec()
	switch {
	case r.Length() == 0:
		return operand{}, true
	case id == codec.Bitset:
		return bitsOf(r), true
	case r.Probe() == lists.ProbeBits:
		return operand{r[4], r.Entries(), 0, operandBits | fromAux}, true
	case id == codec.Raw:
		return operand{r[0], min(r.Length(), r[2]), 0, buffer}, true
	}
	return operand{}, false
}

// bitsOf returns the operand of a bitset.
func bitsOf(r *lists.Record) operand {
	return operand{r[0], r[2] / 17 * 16, 0, operandBits | r.Buffer()<<8}
}

// operandOf returns the operand of list h.
func (c *cut) operandOf(h plan.Handle) operand {
	if o, ok := c.asItLies(h); ok {
		return o
	}
	return c.decoded[h]
}

// write puts the records of the round into the upload of x.
func (c *cut) write(x *slot) error {
	up := x.Up.Words
	at := len(c.operands)
	c.stepsAt = at
	at += len(c.steps)
	c.groupAt = at
	at += len(c.groupRecords)
	for d, runs := range c.runs {
		c.runsAt[d] = at
		at += len(runs) * lists.RunWords / 4
	}
	c.sumsAt = 4 * at
	c.words = c.sumsAt + (c.groups+lists.BlockTiles-1)/lists.BlockTiles
	if c.words > len(up) {
		return tooLarge(c.set.Device, fmt.Errorf("boolean expressions take %d words of an upload, there is room for %d", c.words, len(up)))
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
			copy(up[4*c.runsAt[d]+lists.RunWords*i:], r[:])
		}
	}
	return nil
}
