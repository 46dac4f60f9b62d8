package hostfallback

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"heddle/engine/plan"
)

// A formula is evaluated for one range of documents after the other, with a
// bitset of the range for each set on its stack: 4 KiB each, so that they stay in
// the first-level cache while all lists pass by. A lower bound of the next
// document that can match is evaluated first, by the same steps, and says how
// many ranges to leave out.
const (
	rangeDocs  = 1 << 15
	rangeWords = rangeDocs / 64
)

// rangeSet is the documents of a range: bit i of word w is document 64*w + i
// behind its base.
type rangeSet [rangeWords]uint64

// formulaWorker is the scratch of one goroutine.
type formulaWorker struct {
	operands []*operand
	stack    [plan.MaxDepth + 1]rangeSet // with one for the operand of an AND
	live     [plan.MaxDepth + 1]bool     // a set that is not may hold anything
	bounds   [plan.MaxDepth]uint64
	lists    []plan.Handle // of a disjunction
	union    union
}

// never is a lower bound that no document reaches.
const never = math.MaxUint64

// evaluate appends what matches of x to x.docs, or counts it.
func (w *formulaWorker) evaluate(ctx context.Context, s *store, f *plan.Formulas, x *share) error {
	ops := f.Formula(x.formula)
	if len(ops) == 0 {
		return nil
	}
	if lists, ok := w.disjunction(ops); ok {
		return w.unite(ctx, s, f, x, lists)
	}
	n := 0
	for _, op := range ops {
		if op.Code != plan.OpList {
			continue
		}
		if n == len(w.operands) {
			w.operands = append(w.operands, new(operand))
		}
		if err := w.operands[n].open(s, op.List); err != nil {
			return err
		}
		n++
	}
	for base := x.from; base < x.to; base += rangeDocs {
		for { // jump while there is a reason to
			if ctx.Err() != nil {
				return ctx.Err()
			}
			next, err := w.bound(ops, base)
			if err != nil || next >= x.to {
				return err
			}
			if next < base+rangeDocs {
				break
			}
			base = next / rangeDocs * rangeDocs
		}
		if err := w.step(ops, uint32(base)); err != nil {
			return err
		}
		if !w.live[0] {
			continue
		}
		set := w.stack[0][:min(uint64(rangeWords), (x.to-base+63)/64)]
		if behind := x.to - base; behind < rangeDocs && behind%64 != 0 { // only of lists that are corrupt
			set[len(set)-1] &= 1<<(behind%64) - 1
		}
		count := 0
		for _, word := range set {
			count += bits.OnesCount64(word)
		}
		x.count += count
		if !f.CountOnly {
			at := len(x.docs)
			x.docs = slices.Grow(x.docs, count+3)
			expand(x.docs[at:at+count+3], set, uint32(base))
			x.docs = x.docs[:at+count]
		}
	}
	return nil
}

// bound moves all operands to base and says below which document there is no
// match from there on.
func (w *formulaWorker) bound(ops []plan.Op, base uint64) (uint64, error) {
	depth, leaf := 0, 0
	for _, op := range ops {
		if op.Code == plan.OpList {
			b, err := w.operands[leaf].seek(base)
			if err != nil {
				return 0, err
			}
			w.bounds[depth] = b
			depth, leaf = depth+1, leaf+1
			continue
		}
		depth--
		x, y := w.bounds[depth-1], w.bounds[depth]
		switch op.Code {
		case plan.OpAnd:
			x = max(x, y)
		case plan.OpOr:
			x = min(x, y)
		case plan.OpNotAnd:
			x = y
		}
		w.bounds[depth-1] = x
	}
	return w.bounds[0], nil
}

// step evaluates the formula for the documents from base on into stack[0]. A
// list that is joined to a set at once needs none of its own.
func (w *formulaWorker) step(ops []plan.Op, base uint32) error {
	depth, leaf := 0, 0
	for i := 0; i < len(ops); i++ {
		code := ops[i].Code
		if code == plan.OpList {
			o := w.operands[leaf]
			leaf++
			if i+1 < len(ops) {
				code = ops[i+1].Code
			}
			if fused, err := w.join(o, code, depth, base); err != nil {
				return named(o.handle, err)
			} else if fused {
				i++
				continue
			}
			w.stack[depth] = rangeSet{}
			live, err := o.add(&w.stack[depth], base)
			if err != nil {
				return named(o.handle, err)
			}
			w.live[depth] = live
			depth++
			continue
		}
		depth--
		w.combine(code, depth-1)
	}
	return nil
}

// join does step code with the top of a stack of depth sets and the documents of
// o, if it can do so without a set for o.
func (w *formulaWorker) join(o *operand, code plan.OpCode, depth int, base uint32) (done bool, err error) {
	if depth == 0 {
		return false, nil
	}
	top, live := &w.stack[depth-1], w.live[depth-1]
	switch {
	case code == plan.OpOr:
		if !live {
			*top = rangeSet{}
		}
		more, err := o.add(top, base)
		w.live[depth-1] = live || more
		return true, err
	case code == plan.OpAndNot:
		if live {
			err = o.remove(top, base)
		}
		return true, err
	case code == plan.OpAnd && !live:
		return true, nil
	case code == plan.OpAnd && o.bits != nil:
		w.live[depth-1] = o.keep(top, base)
		return true, nil
	}
	return false, nil
}

// combine does step code with the sets at and at+1 of the stack.
func (w *formulaWorker) combine(code plan.OpCode, at int) {
	x, y := &w.stack[at], &w.stack[at+1]
	liveX, liveY := w.live[at], w.live[at+1]
	if !liveX || !liveY {
		// One side decides; sets are copied where it is the upper one.
		take := liveY && (code == plan.OpOr || code == plan.OpNotAnd)
		if take {
			*x = *y
		}
		w.live[at] = take || liveX && (code == plan.OpOr || code == plan.OpAndNot)
		return
	}
	any := uint64(0)
	switch code {
	case plan.OpAnd:
		for i := range x {
			x[i] &= y[i]
			any |= x[i]
		}
	case plan.OpOr:
		for i := range x {
			x[i] |= y[i]
		}
		any = 1
	case plan.OpAndNot:
		for i := range x {
			x[i] &^= y[i]
			any |= x[i]
		}
	case plan.OpNotAnd:
		for i := range x {
			x[i] = y[i] &^ x[i]
			any |= x[i]
		}
	}
	w.live[at] = any != 0
}
