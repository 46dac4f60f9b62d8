package predicate

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// Compile appends a selection to s: the rows of a table with these columns for which e
// is true. If e compares columns by their values, or tests multi-valued ones, it appends several selections or none, of
// which Plan.Set makes the rows. It returns a description of the selection. Comparisons of one column under one
// AND or OR become one set of codes. If it is just some bins of the column, their vectors
// select the rows, else the codes of all rows do (bit slices). Codes do so too for a set of
// bins with more than 1/256 of the rows and at most four ranges of codes, under an AND of
// which another test needs codes. A predicate that is true for no row, or for all rows, reads nothing.
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

// selection appends the selection of a formula that does not compare columns by their values.
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
	return Plan{Tests: c.tests, Vectors: len(s.Operands) - before, Sliced: c.sliced}, nil
}

// compiler turns a formula into steps.
type compiler struct {
	columns []column.Column
	rows    float64          // number of rows, at least 1
	high    bool             // the piece that needs the most sets goes first, at any cost
	s       plan.SelectBatch // operands of the steps of pieces
	tests   []Test
	sliced  []string
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
		return piece{c.steps(func() { c.s.Do(plan.StepAll) }), c.rows}
	case leaf:
		return c.or(c.parts(c.test(f)))
	case pair:
		return piece{append(c.steps(func() { c.s.Do(plan.StepAll) }), c.compare(f)...), c.rows}
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
	c       *column.Column
	bins    []column.Run // that have rows of the set
	checked bool         // codes tell the rows, not the vectors of bins
	rows    float64      // greatest number of rows
}

// fewRows is the part of the rows up to which vectors of bins go before checks of codes.
const fewRows = 1. / 256

// fewRanges is the number of ranges of codes up to which bit slices take the place of vectors. Each reads the
// slices again.
const fewRanges = 4

func (c *compiler) test(f formula) test {
	t := test{formula: f, c: &c.columns[f.column]}
	whole, some := t.c.Cover(f.codes)
	t.bins, t.checked = column.Union(whole, some), len(some) > 0
	if n := column.Count(t.bins); t.c.Encoding == column.None && 0 < n && n < len(t.c.Bins) {
		t.checked = true
	}
	t.rows = float64(t.c.Rows(t.bins))
	if f.missing {
		t.rows += float64(t.c.Missing)
	}
	return t
}

// parts gives the rows of a test.
func (c *compiler) parts(t test) []piece {
	c.tests = append(c.tests, describe(&t))
	if !t.checked {
		return []piece{{c.steps(func() { t.c.Push(&c.s, t.bins, t.missing) }), t.rows}}
	}
	pieces := []piece{{append(c.steps(func() { c.s.Do(plan.StepAll) }), c.check(t)...), t.rows}}
	if t.missing {
		pieces = append(pieces, piece{c.steps(func() { t.c.Push(&c.s, nil, true) }), float64(t.c.Missing)})
	}
	return pieces
}

// check gives the step that leaves the rows of a test with a value.
func (c *compiler) check(t test) []plan.Step {
	return c.steps(func() { c.s.Check(uint32(t.column), t.codes...) })
}

// compare gives the step that leaves the rows of a pair.
func (c *compiler) compare(f formula) []plan.Step {
	c.sliced = append(c.sliced, f.comparison(c.columns))
	return c.steps(func() {
		c.s.Compare(plan.Comparison{Columns: [2]uint32{uint32(f.column), uint32(f.other)}, Base: f.base,
			Less: f.by.Holds(-1), Equal: f.by.Holds(0), Greater: f.by.Holds(1)})
	})
}

// or puts pieces together. ORs of vectors become one.
func (c *compiler) or(pieces []piece) (out piece) {
	var vectors []uint32
	var rest []piece
	for _, p := range pieces {
		out.rows = min(out.rows+p.rows, c.rows)
		if len(p.steps) == 1 && p.steps[0].Code == plan.StepAny {
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

// and intersects expressions, the ones with the fewest rows first. Checks of codes come last, comparisons of columns behind them, and the
// rows that are left then bound what they read.
func (c *compiler) and(args []formula) piece {
	out := piece{rows: c.rows}
	var tests, late []test
	var pieces []piece
	var pairs []formula
	checks := false
	for _, a := range args {
		if a.shape == pair {
			pairs = append(pairs, a)
		} else if a.shape == leaf {
			t := c.test(a)
			tests = append(tests, t)
			checks = checks || t.checked && !t.missing // a check has no rows without a value
			out.rows = min(out.rows, t.rows)
		} else {
			pieces = append(pieces, c.emit(a))
			out.rows = min(out.rows, pieces[len(pieces)-1].rows)
		}
	}
	for _, t := range tests {
		if t.missing || !t.checked && (!checks || t.rows <= fewRows*c.rows || len(t.codes) > fewRanges) {
			pieces = append(pieces, c.or(c.parts(t)))
			continue
		}
		t.checked = true
		c.tests = append(c.tests, describe(&t))
		late = append(late, t)
	}
	if len(pieces) == 0 {
		pieces = append(pieces, c.emit(formula{shape: all}))
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
	slices.SortStableFunc(late, func(a, b test) int { return cmp.Compare(a.rows, b.rows) })
	for _, t := range late {
		out.steps = append(out.steps, c.check(t)...)
	}
	for _, f := range pairs {
		out.steps = append(out.steps, c.compare(f)...)
	}
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
		case plan.StepAny, plan.StepAll:
			n++
		case plan.StepAnd, plan.StepOr, plan.StepAndNot:
			n--
		}
		most = max(most, n)
	}
	return most
}
