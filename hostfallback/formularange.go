package hostfallback

import (
	"context"
	"math"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// A formula is evaluated for one range of documents after the other, with a
// bitset of the range for each set on its stack: 4 KiB each, so that they stay in
// the first-level cache while all lists pass by. A lower bound of the next
// document that can match is evaluated first, by the same steps, and says how
// many ranges to leave out.
const (
	rangeDocs  = lookup.ChunkDocs
	rangeWords = rangeDocs / 64
)

// rangeSet is the documents of a range: bit i of word w is document 64*w + i
// behind its base.
type rangeSet [rangeWords]uint64

// A step joins an operand, or the set on top of the stack, to the set below.
type step struct {
	code    plan.OpCode // OpList: the operand is a set of its own
	operand int         // below 0: none
}

// formulaWorker is the scratch of one goroutine.
type formulaWorker struct {
	steps    []step
	lists    []plan.Handle
	operands []*operand
	stack    [plan.MaxDepth + 1]rangeSet // with one for an operand
	live     [plan.MaxDepth + 1]bool     // a set that is not may hold anything
	bounds   [plan.MaxDepth]uint64
	union    union // of a disjunction

	// Of chains:
	lead        lead
	probers     []*lookup.Prober
	left, found []uint32
}

// never is a lower bound that no document reaches.
const never = math.MaxUint64

// compile makes the steps of ops, and operands open for the documents of x. Lists
// that are ORed to one another are one operand, and so are those that the same set
// loses; an operand that meets the top of the stack at once needs no set there.
func (w *formulaWorker) compile(s *store, ops []plan.Op, x *share) error {
	w.steps = w.steps[:0]
	operands, depth := 0, 0
	for i := 0; i < len(ops); {
		code := ops[i].Code
		if code != plan.OpList {
			w.steps = append(w.steps, step{code, -1})
			depth--
			i++
			continue
		}
		w.lists = w.lists[:0]
		run := plan.OpOr // what may follow
		if next := i + 1; depth > 0 && next < len(ops) && ops[next].Code != plan.OpList && ops[next].Code != plan.OpNotAnd {
			code, run = ops[next].Code, ops[next].Code
		} else {
			w.lists = append(w.lists, ops[i].List)
			depth++
			i++
		}
		for i+1 < len(ops) && ops[i].Code == plan.OpList && ops[i+1].Code == run {
			w.lists = append(w.lists, ops[i].List)
			i += 2
			if run == plan.OpAnd {
				break
			}
		}
		w.steps = append(w.steps, step{code, operands})
		if operands == len(w.operands) {
			w.operands = append(w.operands, new(operand))
		}
		if err := w.operands[operands].open(s, w.lists, x.from, x.to); err != nil {
			return err
		}
		operands++
	}
	return nil
}

// evaluate appends what matches of x to x.docs, or counts it.
func (w *formulaWorker) evaluate(ctx context.Context, s *store, f *plan.MatchBatch, x *share) error {
	ops := f.Expression(x.formula)
	if len(ops) == 0 {
		return nil
	}
	if lists, ok := w.disjunction(ops); ok {
		return w.unite(ctx, s, f, x, lists)
	}
	if s.chain(ops) {
		return w.filter(ctx, s, ops, f.CountOnly, x)
	}
	if err := w.compile(s, ops, x); err != nil {
		return err
	}
	for base := x.from; base < x.to; base += rangeDocs {
		for { // jump while there is a reason to
			if ctx.Err() != nil {
				return ctx.Err()
			}
			next, err := w.bound(base)
			if err != nil || next >= x.to {
				return err
			}
			if next < base+rangeDocs {
				break
			}
			base = next / rangeDocs * rangeDocs
		}
		if err := w.run(uint32(base)); err != nil {
			return err
		}
		if !w.live[0] {
			continue
		}
		c := chunk{base: uint32(base), bits: w.stack[0][:min(uint64(rangeWords), (x.to-base+63)/64)]}
		if behind := x.to - base; behind < rangeDocs && behind%64 != 0 { // only of lists that are corrupt
			c.bits[len(c.bits)-1] &= 1<<(behind%64) - 1
		}
		if f.CountOnly {
			x.count += c.count()
		} else {
			x.docs = c.appendTo(x.docs)
			x.count = len(x.docs)
		}
	}
	return nil
}

// bound moves all operands to base and says below which document there is no
// match from there on.
func (w *formulaWorker) bound(base uint64) (uint64, error) {
	depth := 0
	for _, st := range w.steps {
		if st.operand >= 0 {
			b, err := w.operands[st.operand].seek(base)
			if err != nil {
				return 0, err
			}
			w.bounds[depth] = b
			depth++
			if st.code == plan.OpList {
				continue
			}
		}
		depth--
		x, y := w.bounds[depth-1], w.bounds[depth]
		switch st.code {
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

// run evaluates the formula for the documents from base on into stack[0].
func (w *formulaWorker) run(base uint32) (err error) {
	depth := 0
	for _, st := range w.steps {
		if st.operand < 0 {
			depth--
			w.combine(st.code, depth-1)
			continue
		}
		o := w.operands[st.operand]
		if st.code == plan.OpList {
			if w.live[depth], err = o.load(&w.stack[depth], base, true); err != nil {
				return err
			}
			depth++
		} else if err = w.join(o, st.code, depth-1, base); err != nil {
			return err
		}
	}
	return nil
}

// join joins the documents of o to the set at top of the stack.
func (w *formulaWorker) join(o *operand, code plan.OpCode, top int, base uint32) (err error) {
	set, live := &w.stack[top], w.live[top]
	if code == plan.OpOr {
		more, err := o.load(set, base, !live)
		w.live[top] = live || more
		return err
	}
	if !live { // and stays so
		return nil
	}
	if words, ok := o.bits(base); ok {
		n := len(words) / 2
		if code == plan.OpAndNot {
			lookup.AndNotBits(set[:n], words)
		} else {
			w.live[top] = lookup.AndMoreBits(set[:n], words) > 0
			clear(set[n:])
		}
		return nil
	}
	if w.live[top+1], err = o.load(&w.stack[top+1], base, true); err == nil {
		w.combine(code, top)
	}
	return err
}

// combine joins the set at at+1 of the stack to that at at.
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
