package tables

import (
	"fmt"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/limit"
	"heddle/engine/plan"
	"heddle/engine/table/predicate"
)

// Predicate is a predicate compiled for one Data. It does not change and is safe for
// concurrent use.
type Predicate struct {
	Text  string           // the predicate in the form of predicate.Expr; empty for steps made by hand
	Plan  predicate.Plan   // bins of the columns
	Steps plan.SelectBatch // one selection, which is empty if Plan has a Set

	work   cost.Selection // the work of counting the rows, for the cost model
	slices uint64         // bytes of the slices of columns that are checked
	parts  []*Predicate   // selections of Plan.Set
}

// Compile compiles a predicate. Errors: *syntax.Error with the place of the
// fault, *limit.Error, plan.ErrUnsupported for a predicate that needs more than plan.MaxSets
// sets.
func (d *Data) Compile(where string) (*Predicate, error) {
	l := limit.Default()
	return d.compile(where, &l, nil)
}

// Compile compiles a predicate within the limits of the pool. Errors: see Data.Compile.
func (g *Generation) Compile(where string) (*Predicate, error) {
	return g.predicates.get(where, func() (p *Predicate, bytes int, err error) {
		if p, err = g.compile(where, g.pool.Limits(), nil); err == nil {
			bytes = len(where) + p.size()
		}
		return p, bytes, err
	})
}

// size is about the memory of the steps, in bytes.
func (p *Predicate) size() int {
	n := 24*len(p.Steps.Steps) + 32*len(p.Steps.Comparisons) + 4*len(p.Steps.Operands) + 16*len(p.Steps.Ranges)
	for _, part := range p.parts {
		n += part.size()
	}
	return n
}

func (d *Data) compile(where string, l *limit.Limits, ended func() error) (*Predicate, error) {
	if err := l.CheckText(where); err != nil {
		return nil, err
	}
	e, err := predicate.ParseUntil(where, ended)
	if err != nil {
		return nil, err
	}
	if err := limit.CheckTree(l, &e.Root, func(n *predicate.Node) []predicate.Node { return n.Args }); err != nil {
		return nil, err
	}
	p := &Predicate{Text: e.String()}
	if p.Plan, err = predicate.Compile(e, d.Columns, d.Table.Rows, &p.Steps); err != nil {
		return nil, err
	}
	if p.Plan.Set != nil {
		d.split(p)
	}
	d.measure(p)
	return p, nil
}

// Adopt makes a predicate of the only selection of s, which names vectors and columns of
// the table. It copies the steps. The error names the first invalid step.
func (d *Data) Adopt(s *plan.SelectBatch) (*Predicate, error) {
	if err := s.Validate(d.Table); err != nil {
		return nil, err
	}
	if s.Len() != 1 {
		return nil, fmt.Errorf("engine: %d selections, a prepared predicate has one", s.Len())
	}
	p := &Predicate{}
	p.Steps.Copy(s, s.Selection(0))
	p.Steps.End()
	p.Plan.Vectors = len(p.Steps.Operands)
	d.measure(p)
	return p, nil
}

// measure counts the work of the steps of p.
func (d *Data) measure(p *Predicate) {
	p.work = d.Work(countOf(&p.Steps))
	for _, x := range p.Steps.Steps {
		if x.Code == plan.StepCheck {
			p.slices += d.sliceBytes[x.Column]
		}
	}
	for _, c := range p.Steps.Comparisons {
		p.slices += d.sliceBytes[c.Columns[0]] + d.sliceBytes[c.Columns[1]]
	}
}

// countOf is s with counts as its output.
func countOf(s *plan.SelectBatch) *plan.SelectBatch {
	c := *s
	c.Output = plan.OutputCounts
	return &c
}

// Bytes is the size of the vectors that the predicate reads, compressed, and of the bit slices of the columns
// that it checks, of which it reads a part.
func (p *Predicate) Bytes() (vectors, slices uint64) {
	vectors, slices = p.work.Bytes, p.slices
	for _, part := range p.parts {
		vectors, slices = vectors+part.work.Bytes, slices+part.slices
	}
	return vectors, slices
}
