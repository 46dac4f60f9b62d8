package engine

import (
	"context"
	"errors"

	"heddle/engine/plan"
	"heddle/engine/table/predicate"
)

// Prepared is a predicate that is compiled for one table, to be used again and again.
// It is safe for concurrent use.
type Prepared struct {
	of    *Table
	text  string
	plan  predicate.Plan
	steps plan.SelectBatch // one selection
}

// Prepare compiles a predicate.
func (t *Table) Prepare(where string) (*Prepared, error) {
	p := &Prepared{of: t}
	c, err := t.compile(where, &p.steps)
	if err != nil {
		return nil, err
	}
	p.text, p.plan = c.expr.String(), c.plan
	return p, nil
}

// String is the predicate, in the form that predicate.Expr writes.
func (p *Prepared) String() string { return p.text }

// Plan says what the predicate does.
func (p *Prepared) Plan() predicate.Plan { return p.plan }

// SelectPrepared is Select of predicates that t has prepared.
func (t *Table) SelectPrepared(ctx context.Context, where []*Prepared, opt TableOptions, out *plan.Rows) error {
	s := t.batches.Get().(*plan.SelectBatch)
	defer t.batches.Put(s)
	s.Reset()
	for _, p := range where {
		if p.of != t {
			return errors.New("engine: a predicate that another table has prepared")
		}
		s.Copy(&p.steps, p.steps.Steps)
		s.End()
	}
	s.Output, s.Strategy, s.Rescan = opt.Output, opt.Strategy, opt.Rescan
	return t.Run(ctx, s, out)
}
