package predicate

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// Compile appends a selection to s: the rows of a table with these columns for which e
// is true. If e compares columns, or tests multi-valued ones, it appends several selections or none, of
// which Plan.Set makes the rows. It returns a description of the selection. Comparisons of one column under one
// AND or OR become one set of codes. Bins inside of the set are selected by their
// vectors; rows of bins on its boundary are checked by their codes. A predicate that is
// true for no row, or for all rows, reads nothing.
//
// An error in the text is a *syntax.Error. A predicate that needs more than plan.MaxSets
// sets in every order of steps is a plan.ErrUnsupported. s is unchanged after an error.
func Compile(e Expr, columns []column.Column, rows uint32, s *plan.SelectBatch) (Plan, error) {
	r := reader{text: e.Text, columns: columns, ended: e.ended}
	f, err := r.read(&e.Root, false)
	if err != nil {
		return Plan{}, err
	}
	if !f.compares() {
		return selection(f, columns, rows, s)
	}
	var several plan.SelectBatch
	x := splitter{reader: r, rows: rows, s: &several}
	set, err := x.set(f)
	if err != nil {
		return Plan{}, err
	}
	for i := range several.Len() {
		s.Copy(&several, several.Selection(i))
		s.End()
	}
	x.plan.Set = &set
	return x.plan, nil
}

// selection appends the selection of a formula that does not compare columns.
func selection(f formula, columns []column.Column, rows uint32, s *plan.SelectBatch) (Plan, error) {
	c := compiler{columns: columns, rows: float64(max(rows, 1))}
	p := c.emit(f)
	if height(p.steps) > plan.MaxSets {
		c = compiler{columns: columns, rows: c.rows, high: true}
		p = c.emit(f)
	}
	if n := height(p.steps); n > plan.MaxSets {
		return Plan{}, fmt.Errorf("predicate: it takes %d sets of rows at a time, at most %d are possible: %w", n, plan.MaxSets, plan.ErrUnsupported)
	}
	before := len(s.Operands)
	s.Copy(&c.s, p.steps)
	s.End()
	return Plan{Tests: c.tests, Vectors: len(s.Operands) - before}, nil
}

// compiler turns a formula into steps.
type compiler struct {
	columns []column.Column
	rows    float64          // number of rows, at least 1
	high    bool             // the piece that needs the most sets goes first, at any cost
	s       plan.SelectBatch // operands of the steps of pieces
	tests   []Test
}

// piece is steps that push one set, and how many rows that has at most.
type piece struct {
	steps []plan.Step
	rows  float64
}

// steps gives the steps that f appends.
func (c *compiler) steps(f func()) []plan.Step {
	c.s.Steps = nil
	f()
	return c.s.Steps
}

func (c *compiler) emit(f formula) piece {
	switch f.shape {
	case none:
		return piece{}
	case all:
		return piece{c.steps(func() { c.s.Any(); c.s.Do(plan.StepNot) }), c.rows}
	case leaf:
		return c.or(c.parts(c.test(f)))
	case and:
		return c.and(f.args)
	}
	var pieces []piece
	for _, a := range f.args {
		if a.shape == leaf {
			pieces = append(pieces, c.parts(c.test(a))...)
		} else {
			pieces = append(pieces, c.emit(a))
		}
	}
	return c.or(pieces)
}

// test is a leaf with the bins that it takes.
type test struct {
	formula
	c              *column.Column
	whole, checked []column.Run
	candidates     float64 // rows of checked
	rows           float64 // greatest number of rows
}

func (c *compiler) test(f formula) test {
	t := test{formula: f, c: &c.columns[f.column]}
	t.whole, t.checked = t.c.Cover(f.codes)
	t.candidates = float64(t.c.Rows(t.checked))
	t.rows = t.candidates + float64(t.c.Rows(t.whole))
	if f.missing {
		t.rows += float64(t.c.Missing)
	}
	c.tests = append(c.tests, describe(&t))
	return t
}

// parts gives the rows of whole bins, and the rows of boundary bins that pass the check.
func (c *compiler) parts(t test) (pieces []piece) {
	if len(t.checked) > 0 {
		pieces = append(pieces, piece{c.steps(func() {
			t.c.Push(&c.s, t.checked, false)
			c.s.Check(uint32(t.column), t.codes...)
		}), t.candidates})
	}
	if len(t.whole) > 0 || t.missing {
		pieces = append(pieces, piece{c.steps(func() { t.c.Push(&c.s, t.whole, t.missing) }), t.rows - t.candidates})
	}
	return pieces
}

// or puts pieces together. ORs of vectors become one.
func (c *compiler) or(pieces []piece) (out piece) {
	var vectors []uint32
	var rest []piece
	for _, p := range pieces {
		out.rows = min(out.rows+p.rows, c.rows)
		if len(p.steps) == 1 {
			vectors = append(vectors, c.s.Operands[p.steps[0].From:p.steps[0].To]...)
		} else {
			rest = append(rest, p)
		}
	}
	byHeight(rest)
	if len(vectors) > 0 {
		rest = append(rest, piece{steps: c.steps(func() { c.s.Any(vectors...) })})
	}
	for i, p := range rest {
		out.steps = append(out.steps, p.steps...)
		if i > 0 {
			out.steps = append(out.steps, plan.Step{Code: plan.StepOr})
		}
	}
	return out
}

// and intersects expressions, the ones with the fewest rows first. Where the expected
// result has fewer rows than a test has candidates, the check of the test comes last and
// reads only the remaining rows.
func (c *compiler) and(args []formula) piece {
	out := piece{rows: c.rows}
	expected := c.rows // to be left, if the operands were independent
	expect := func(rows float64) {
		expected *= rows / c.rows
		out.rows = min(out.rows, rows)
	}
	var tests []test
	var pieces []piece
	for _, a := range args {
		if a.shape == leaf {
			tests = append(tests, c.test(a))
			expect(tests[len(tests)-1].rows)
		} else {
			pieces = append(pieces, c.emit(a))
			expect(pieces[len(pieces)-1].rows)
		}
	}
	var late []plan.Step
	for _, t := range tests {
		if t.candidates <= expected || t.missing { // a check has no rows without a value
			pieces = append(pieces, c.or(c.parts(t)))
			continue
		}
		pieces = append(pieces, piece{c.steps(func() { t.c.Push(&c.s, column.Union(t.whole, t.checked), false) }), t.rows})
		late = append(late, c.steps(func() { c.s.Check(uint32(t.column), t.codes...) })...)
	}
	if c.high {
		byHeight(pieces)
	} else {
		slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.order(), b.order()) })
	}
	for i, p := range pieces {
		code := plan.StepAnd
		if i > 0 && p.negated() {
			p.steps, code = p.steps[:len(p.steps)-1], plan.StepAndNot
		}
		out.steps = append(out.steps, p.steps...)
		if i > 0 {
			out.steps = append(out.steps, plan.Step{Code: code})
		}
	}
	out.steps = append(out.steps, late...)
	return out
}

// order puts pieces with few rows first, and subtracted pieces last.
func (p piece) order() float64 {
	if p.negated() {
		return p.rows + 1<<32
	}
	return p.rows
}

func (p piece) negated() bool { return p.steps[len(p.steps)-1].Code == plan.StepNot }

// byHeight sorts pieces so that folding them one by one takes the fewest sets.
func byHeight(pieces []piece) {
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(height(b.steps), height(a.steps)) })
}

// height is the greatest number of sets that steps have at a time.
func height(steps []plan.Step) int {
	n, most := 0, 0
	for _, x := range steps {
		switch x.Code {
		case plan.StepAny:
			n++
		case plan.StepAnd, plan.StepOr, plan.StepAndNot:
			n--
		}
		most = max(most, n)
	}
	return most
}
