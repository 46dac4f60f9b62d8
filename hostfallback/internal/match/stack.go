package match

import (
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// step is one operation of a compiled expression: it combines an operand, or the set on
// top of the stack, with the set below.
type step struct {
	code    plan.OpCode // plan.OpList pushes the operand
	operand int         // index in stack.operands, -1 for the set on top
}

// stack evaluates one expression in one chunk after another. Its sets take 4 KiB each and
// stay in the first-level cache while all lists pass by. It belongs to one goroutine and
// is reused.
type stack struct {
	steps    []step
	lists    []plan.Handle
	operands []*operand
	sets     [plan.MaxDepth + 1]docset.Chunk // the last one is for an operand
	live     [plan.MaxDepth + 1]bool         // by set: false for an empty set, whose words are undefined
	bounds   [plan.MaxDepth]uint64           // by set: lower bound of its next document
	union    union                           // answers an OR of few docIDs
	board    *board                          // answers an OR of many docIDs; nil before the first one
}

// compile translates ops to steps and opens their operands for the documents from from
// to to-1. Lists that are ORed with each other become one operand, and so do lists that are
// removed from the same set. An operand that is combined with the top of the stack at once
// needs no set.
func (s *stack) compile(aux *lookup.Auxiliary, ops []plan.Op, from, to uint64) error {
	s.steps = s.steps[:0]
	operands, depth := 0, 0
	for i := 0; i < len(ops); {
		code := ops[i].Code
		if code != plan.OpList {
			s.steps = append(s.steps, step{code, -1})
			depth--
			i++
			continue
		}
		s.lists = s.lists[:0]
		run := plan.OpOr // the operator that extends the operand
		if next := i + 1; depth > 0 && next < len(ops) && ops[next].Code != plan.OpList && ops[next].Code != plan.OpNotAnd {
			code, run = ops[next].Code, ops[next].Code
		} else {
			s.lists = append(s.lists, ops[i].List)
			depth++
			i++
		}
		for i+1 < len(ops) && ops[i].Code == plan.OpList && ops[i+1].Code == run {
			s.lists = append(s.lists, ops[i].List)
			i += 2
			if run == plan.OpAnd {
				break
			}
		}
		s.steps = append(s.steps, step{code, operands})
		if operands == len(s.operands) {
			s.operands = append(s.operands, new(operand))
		}
		if err := s.operands[operands].open(aux, s.lists, from, to); err != nil {
			return err
		}
		operands++
	}
	return nil
}

// bound moves all operands to base and returns a lower bound of the next match.
func (s *stack) bound(base uint64) (uint64, error) {
	depth := 0
	for _, st := range s.steps {
		if st.operand >= 0 {
			b, err := s.operands[st.operand].seek(base)
			if err != nil {
				return 0, err
			}
			s.bounds[depth] = b
			depth++
			if st.code == plan.OpList {
				continue
			}
		}
		depth--
		x, y := s.bounds[depth-1], s.bounds[depth]
		switch st.code {
		case plan.OpAnd:
			x = max(x, y)
		case plan.OpOr:
			x = min(x, y)
		case plan.OpNotAnd:
			x = y
		}
		s.bounds[depth-1] = x
	}
	return s.bounds[0], nil
}

// run evaluates the expression in the chunk at base into sets[0].
func (s *stack) run(base uint32) (err error) {
	depth := 0
	for _, st := range s.steps {
		if st.operand < 0 {
			depth--
			s.combine(st.code, depth-1)
			continue
		}
		o := s.operands[st.operand]
		if st.code == plan.OpList {
			if s.live[depth], err = o.load(&s.sets[depth], base, true); err != nil {
				return err
			}
			depth++
		} else if err = s.join(o, st.code, depth-1, base); err != nil {
			return err
		}
	}
	return nil
}

// join combines o with the set at top.
func (s *stack) join(o *operand, code plan.OpCode, top int, base uint32) (err error) {
	set, live := &s.sets[top], s.live[top]
	if code == plan.OpOr {
		more, err := o.load(set, base, !live)
		s.live[top] = live || more
		return err
	}
	if !live { // and stays empty
		return nil
	}
	if words, ok := o.bits(base); ok {
		n := len(words) / 2
		if code == plan.OpAndNot {
			docset.AndNotBits(set[:n], words)
		} else {
			s.live[top] = docset.AndMoreBits(set[:n], words) > 0
			clear(set[n:])
		}
		return nil
	}
	if s.live[top+1], err = o.load(&s.sets[top+1], base, true); err == nil {
		s.combine(code, top)
	}
	return err
}

// combine sets the set at index at to the result of an operator on the sets at and at+1.
func (s *stack) combine(code plan.OpCode, at int) {
	x, y := &s.sets[at], &s.sets[at+1]
	liveX, liveY := s.live[at], s.live[at+1]
	if !liveX || !liveY {
		// One set decides the result; the upper one is copied.
		take := liveY && (code == plan.OpOr || code == plan.OpNotAnd)
		if take {
			*x = *y
		}
		s.live[at] = take || liveX && (code == plan.OpOr || code == plan.OpAndNot)
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
	s.live[at] = any != 0
}
