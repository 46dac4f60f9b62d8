package column

import "heddle/engine/plan"

// term is the OR of vectors a, alone or combined with the OR of vectors b:
//
//	StepAny     a
//	StepNot     the complement of a
//	StepAnd     a AND b
//	StepAndNot  a AND NOT b
type term struct {
	code plan.StepCode
	a, b []uint32
}

// Push appends the steps that push the rows of the bins of runs (ascending, with at least
// one bin between two runs), and with missing also the rows without a value. The steps
// read the fewest vectors that the encoding allows for these runs or for their
// complement. They add at most three sets to the stack. Of an encoding None the runs have all bins, or none.
func (c *Column) Push(s *plan.SelectBatch, runs []Run, missing bool) {
	terms, n := c.terms(runs, missing)
	others, m := c.terms(c.complement(runs), !missing)
	if m >= n {
		push(s, terms)
		return
	}
	push(s, others)
	s.Do(plan.StepNot)
}

// terms gives the operands of the OR, with a StepAny last, and their number of vectors.
func (c *Column) terms(runs []Run, missing bool) (terms []term, vectors int) {
	plain := term{code: plan.StepAny}
	for _, r := range runs {
		t := c.term(r)
		vectors += len(t.a) + len(t.b)
		if t.code == plan.StepAny {
			plain.a = append(plain.a, t.a...)
		} else {
			terms = append(terms, t)
		}
	}
	if v, ok := c.MissingVector(); ok && missing {
		plain.a = append(plain.a, v)
		vectors++
	}
	if len(plain.a) > 0 || len(terms) == 0 {
		terms = append(terms, plain)
	}
	return terms, vectors
}

// push appends the OR of terms, of which there is one at least.
func push(s *plan.SelectBatch, terms []term) {
	for i, t := range terms {
		s.Any(t.a...)
		switch t.code {
		case plan.StepNot:
			s.Do(plan.StepNot)
		case plan.StepAnd, plan.StepAndNot:
			s.Any(t.b...)
			s.Do(t.code)
		}
		if i > 0 {
			s.Do(plan.StepOr)
		}
	}
}

// term is the rows of a run of bins. Rows without a value are in none of its vectors. A
// complement therefore names their vector too.
func (c *Column) term(r Run) term {
	switch c.Encoding {
	case None:
		return term{code: plan.StepAny, a: []uint32{c.Vector}}
	case Range:
		return c.rangeTerm(r)
	case Interval:
		return c.intervalTerm(r)
	}
	t := term{code: plan.StepAny}
	for i := r.From; i <= r.To; i++ {
		t.a = append(t.a, c.Vector+uint32(i))
	}
	return t
}

// rangeTerm: bins 0 to To without bins 0 to From-1.
func (c *Column) rangeTerm(r Run) term {
	var before []uint32
	if r.From > 0 {
		before = []uint32{c.Vector + uint32(r.From-1)}
	}
	if r.To == len(c.Bins)-1 { // has no vector: all rows without before and missing ones
		if v, ok := c.MissingVector(); ok {
			before = append(before, v)
		}
		return term{code: plan.StepNot, a: before}
	}
	upto := []uint32{c.Vector + uint32(r.To)}
	if before == nil {
		return term{code: plan.StepAny, a: upto}
	}
	return term{code: plan.StepAndNot, a: upto, b: before}
}

// intervalTerm: vector k, of 0 to n-m, has bins k to k+m-1, m being Span(n), so n is
// 2m or 2m-1. A run as long as a vector is that vector. A longer run is the OR of the
// vector with its first bin in front and the vector with its last bin at the end; the
// two meet because n is not above 2m. A shorter run is their intersection where both
// exist. Where no vector ends with the run (To < m-1), the vector in front is cut behind
// To: vector To+1 exists, as m-1 <= n-m. Where no vector begins with the run (From >
// n-m), the vector at the end is cut before From: vector From-m exists, as From >= n-m+1 >= m.
func (c *Column) intervalTerm(r Run) term {
	n := len(c.Bins)
	m := Span(n)
	vector := func(k int) []uint32 { return []uint32{c.Vector + uint32(k)} }
	ends := r.To - m + 1
	switch long := r.To - r.From + 1; {
	case long == m:
		return term{code: plan.StepAny, a: vector(r.From)}
	case long > m:
		return term{code: plan.StepAny, a: append(vector(r.From), vector(ends)...)}
	case ends < 0:
		return term{code: plan.StepAndNot, a: vector(r.From), b: vector(r.To + 1)}
	case r.From > n-m:
		return term{code: plan.StepAndNot, a: vector(ends), b: vector(r.From - m)}
	}
	return term{code: plan.StepAnd, a: vector(r.From), b: vector(ends)}
}
