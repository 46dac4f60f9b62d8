package plan

import "fmt"

// OpCode is what one step of a formula does to a stack of sets of documents. The
// last two differ in their order, so that whichever operand needs the higher
// stack can be evaluated first.
type OpCode uint8

const (
	OpList   OpCode = iota // push the documents of Op.List
	OpAnd                  // x y becomes x AND y
	OpOr                   // x y becomes x OR y
	OpAndNot               // x y becomes x AND NOT y
	OpNotAnd               // x y becomes y AND NOT x
)

// Op is one step of a formula.
type Op struct {
	Code OpCode
	List Handle // of OpList
}

// MaxDepth is the height that the stack of a formula may have. Ordered well
// (Formulas.Add), every expression over fewer than 2^MaxDepth lists fits.
const MaxDepth = 13

// Formulas is a batch of boolean expressions over the lists of one Source, each
// a sequence of steps in postfix order. Its slices are reused from batch to
// batch. It must not be changed while a Store evaluates it.
type Formulas struct {
	CountOnly bool // results carry counts, no docIDs

	// Offsets has one entry a formula and one more: the steps of formula i are
	// Ops[Offsets[i]:Offsets[i+1]]. A formula without steps matches nothing.
	Offsets []uint32
	Ops     []Op
}

// Reset empties the batch and keeps its memory.
func (f *Formulas) Reset() {
	f.Offsets = append(f.Offsets[:0], 0)
	f.Ops = f.Ops[:0]
}

// Len is the number of formulas added since Reset.
func (f *Formulas) Len() int { return max(len(f.Offsets)-1, 0) }

// Formula returns the steps of formula i.
func (f *Formulas) Formula(i int) []Op { return f.Ops[f.Offsets[i]:f.Offsets[i+1]] }

// Add appends an expression over lists of src, simplified and with its operands
// in an order that keeps the stack low. The error says that it takes too many
// lists; the batch is unchanged then.
func (f *Formulas) Add(src *Source, e Expr) error {
	if e.need == 0 {
		e = e.Simplify(src)
	}
	if e.need > MaxDepth {
		return fmt.Errorf("plan: an expression that takes %d sets at a time, at most %d are possible", e.need, MaxDepth)
	}
	if len(f.Offsets) == 0 {
		f.Offsets = append(f.Offsets, 0)
	}
	if !e.Nothing() {
		f.Ops = e.appendOps(f.Ops)
	}
	f.Offsets = append(f.Offsets, uint32(len(f.Ops)))
	return nil
}

// AddOps appends a formula as Formula gives it.
func (f *Formulas) AddOps(ops []Op) {
	f.Ops = append(f.Ops, ops...)
	f.Offsets = append(f.Offsets, uint32(len(f.Ops)))
}

// AppendLists appends the lists of formula i to dst, as often as it names them.
func (f *Formulas) AppendLists(dst []Handle, i int) []Handle {
	for _, op := range f.Formula(i) {
		if op.Code == OpList {
			dst = append(dst, op.List)
		}
	}
	return dst
}

// Candidates is the number of elements of all lists that the formulas name, as
// often as they name them.
func (f *Formulas) Candidates(src *Source) (n uint64) {
	for _, op := range f.Ops {
		if op.Code == OpList {
			n += uint64(src.Lists[op.List].Len)
		}
	}
	return n
}

// Validate checks the batch against src: handles in range, and of every formula
// that its stack stays within MaxDepth and ends with one set.
func (f *Formulas) Validate(src *Source) error {
	if len(f.Offsets) == 0 {
		return nil
	}
	if f.Offsets[0] != 0 || int(f.Offsets[len(f.Offsets)-1]) != len(f.Ops) {
		return fmt.Errorf("plan: formula offsets do not cover its %d steps", len(f.Ops))
	}
	for i := range f.Len() {
		if f.Offsets[i] > f.Offsets[i+1] || int(f.Offsets[i+1]) > len(f.Ops) {
			return fmt.Errorf("plan: offsets of formula %d do not ascend", i)
		}
		depth := 0
		for j, op := range f.Formula(i) {
			switch {
			case op.Code > OpNotAnd:
				return fmt.Errorf("plan: step %d of formula %d has the unknown code %d", j, i, op.Code)
			case op.Code == OpList && uint64(op.List) >= uint64(len(src.Lists)):
				return fmt.Errorf("plan: formula %d names list %d of %d", i, op.List, len(src.Lists))
			case op.Code == OpList:
				depth++
			case depth < 2:
				return fmt.Errorf("plan: step %d of formula %d takes two sets, there are %d", j, i, depth)
			default:
				depth--
			}
			if depth > MaxDepth {
				return fmt.Errorf("plan: step %d of formula %d makes a stack of %d sets, at most %d are possible", j, i, depth, MaxDepth)
			}
		}
		if depth > 1 {
			return fmt.Errorf("plan: formula %d leaves %d sets", i, depth)
		}
	}
	return nil
}
