package plan

import "fmt"

// OpCode is the effect of one operation of a boolean expression on a stack of
// sets of documents. The last two differ in the order of their operands, so that
// the operand that needs the higher stack can be evaluated first.
type OpCode uint8

const (
	OpList   OpCode = iota // push the documents of Op.List
	OpAnd                  // x y becomes x AND y
	OpOr                   // x y becomes x OR y
	OpAndNot               // x y becomes x AND NOT y
	OpNotAnd               // x y becomes y AND NOT x
)

// Op is one operation of a boolean expression in postfix order.
type Op struct {
	Code OpCode
	List Handle // the list of OpList
}

// MaxDepth is the greatest height of the stack of an expression. In the order of
// MatchBatch.AddExpr, every expression over fewer than 2^MaxDepth lists fits.
const MaxDepth = 13

// checkOpShape is CheckShape of the expressions.
func (b *MatchBatch) checkOpShape() error {
	if len(b.OpOffsets) == 0 {
		if len(b.Ops) > 0 {
			return fmt.Errorf("plan: %d operations without offsets", len(b.Ops))
		}
		return nil
	}
	if len(b.OpOffsets) != len(b.Offsets) {
		return fmt.Errorf("plan: %d offsets of expressions, %d of conjunctions", len(b.OpOffsets), len(b.Offsets))
	}
	if b.OpOffsets[0] != 0 || int(b.OpOffsets[len(b.OpOffsets)-1]) != len(b.Ops) {
		return fmt.Errorf("plan: offsets of expressions do not cover %d operations", len(b.Ops))
	}
	return nil
}

// checkOps is Check of the expressions: handles in range, and a stack that stays within
// MaxDepth and ends with one set.
func (b *MatchBatch) checkOps(src *Source, first, end int) (load uint64, err error) {
	if len(b.OpOffsets) == 0 {
		return 0, nil
	}
	for i := first; i < end; i++ {
		if b.OpOffsets[i] > b.OpOffsets[i+1] || int(b.OpOffsets[i+1]) > len(b.Ops) {
			return 0, fmt.Errorf("plan: offsets of expression %d do not ascend", i)
		}
		ops := b.Expression(i)
		if len(ops) > 0 && len(b.Query(i)) > 0 {
			return 0, fmt.Errorf("plan: query %d is both a conjunction and an expression", i)
		}
		if err := validOps(src, i, ops); err != nil {
			return 0, err
		}
		if len(ops) > 0 {
			load += b.Load(src, i)
		}
	}
	return load, nil
}

func validOps(src *Source, i int, ops []Op) error {
	depth := 0
	for j, op := range ops {
		switch {
		case op.Code > OpNotAnd:
			return fmt.Errorf("plan: operation %d of expression %d has the unknown code %d", j, i, op.Code)
		case op.Code == OpList && uint64(op.List) >= uint64(len(src.Lists)):
			return fmt.Errorf("plan: expression %d names list %d of %d", i, op.List, len(src.Lists))
		case op.Code == OpList:
			src.Describe(op.List)
			depth++
		case depth < 2:
			return fmt.Errorf("plan: operation %d of expression %d takes two sets from a stack of %d", j, i, depth)
		default:
			depth--
		}
		if depth > MaxDepth {
			return fmt.Errorf("plan: operation %d of expression %d makes a stack of %d sets, at most %d are possible", j, i, depth, MaxDepth)
		}
	}
	if depth > 1 {
		return fmt.Errorf("plan: expression %d leaves %d sets", i, depth)
	}
	return nil
}
