package tables

import (
	"context"
	"errors"
	"sync/atomic"

	"heddle/engine/internal/pool"
	"heddle/engine/plan"
)

// ErrOtherTable is the error of a selection with a predicate that another table has prepared.
var ErrOtherTable = errors.New("another table has prepared the predicate")

// Prepared is a predicate that is compiled once for each generation of its table. It is
// safe for concurrent use.
type Prepared struct {
	of    *Table
	where string
	steps *plan.SelectBatch // made by hand, in place of where; else nil
	now   atomic.Pointer[compiled]
}

// compiled is a predicate for one generation.
type compiled struct {
	of *Data
	*Predicate
}

// Prepare compiles a predicate for the current generation and for later ones. Errors: see
// Data.Compile.
func (t *Table) Prepare(ctx context.Context, call *pool.Call, where string) (*Prepared, error) {
	g, err := t.Acquire()
	if err != nil {
		return nil, err
	}
	defer g.Release()
	until := g.Until(ctx, call)
	if err := until.Err(); err != nil {
		return nil, err
	}
	q, err := g.CompileFor(&until, call.Caller, where, len(where))
	if err != nil {
		return nil, err
	}
	p := &Prepared{of: t, where: where}
	p.now.Store(&compiled{g.Data, q})
	return p, nil
}

// PrepareSteps prepares the only selection of s. Errors: see Data.Adopt.
func (t *Table) PrepareSteps(s *plan.SelectBatch) (*Prepared, error) {
	p := &Prepared{of: t, steps: &plan.SelectBatch{}}
	if s.Len() == 1 {
		p.steps.Copy(s, s.Selection(0))
		p.steps.End()
	}
	g, err := t.Acquire()
	if err != nil {
		return nil, err
	}
	defer g.Release()
	_, err = p.For(g)
	return p, err
}

// For returns the predicate for a generation of its table. Errors: ErrOtherTable,
// and of Data.Compile or Data.Adopt if a reloaded table lacks a column.
func (p *Prepared) For(g *Generation) (*Predicate, error) {
	if g.of != p.of {
		return nil, ErrOtherTable
	}
	if c := p.now.Load(); c != nil && c.of == g.Data {
		return c.Predicate, nil
	}
	q, err := g.prepare(p)
	if err != nil {
		return nil, err
	}
	p.now.Store(&compiled{g.Data, q})
	return q, nil
}

func (g *Generation) prepare(p *Prepared) (*Predicate, error) {
	if p.steps != nil {
		return g.Adopt(p.steps)
	}
	return g.Compile(p.where)
}

// Predicate is the form that was compiled last.
func (p *Prepared) Predicate() *Predicate { return p.now.Load().Predicate }
