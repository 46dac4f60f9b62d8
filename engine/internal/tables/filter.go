package tables

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/plan"
)

// Filter is a predicate on a generation, as the filter of queries on lists. It implements
// lists.Rows. The generation must be in use as long as a query has the filter.
type Filter struct {
	g *Generation
	p *Predicate
}

// NewFilter returns the filter of a predicate. It must not compare columns (Compares).
func (g *Generation) NewFilter(p *Predicate) *Filter { return &Filter{g, p} }

// And returns the predicate that holds where p and q hold, which do not compare columns; nil if one
// selection cannot have the steps of both.
func (g *Generation) And(p, q *Predicate) *Predicate {
	both := &Predicate{}
	for _, x := range []*Predicate{p, q} {
		both.Steps.Copy(&x.Steps, x.Steps.Selection(0))
	}
	both.Steps.Do(plan.StepAnd)
	both.Steps.End()
	if both.Steps.Validate(g.Table) != nil {
		return nil
	}
	both.work = g.Work(countOf(&both.Steps))
	return both
}

// Compares tells whether the predicate compares columns by their values, or tests multi-valued ones, which a Task alone can do.
func (p *Predicate) Compares() bool { return p.Plan.Set != nil }

// AppendKey appends the normal form of a predicate on a generation: equal keys have equal rows.
func (g *Generation) AppendKey(key []byte, p *Predicate) []byte {
	key = binary.LittleEndian.AppendUint64(key, g.serial)
	if p.Compares() {
		return append(append(key, 't'), p.Text...)
	}
	key = append(key, 's')
	for _, x := range p.Steps.Steps {
		key = append(key, byte(x.Code))
		key = binary.LittleEndian.AppendUint32(key, x.To-x.From)
		switch x.Code {
		case plan.StepAny:
			for _, v := range p.Steps.Operands[x.From:x.To] {
				key = binary.LittleEndian.AppendUint32(key, v)
			}
		case plan.StepCheck:
			key = binary.LittleEndian.AppendUint32(key, x.Column)
			for _, r := range p.Steps.Ranges[x.From:x.To] {
				key = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(key, r.Lo), r.Hi)
			}
		case plan.StepCompare:
			key = fmt.Append(key, p.Steps.Comparisons[x.From])
		}
	}
	return key
}

// IsOf tells whether g is a generation of a table.
func (g *Generation) IsOf(t *Table) bool { return g.of == t }

// Of implements lists.Rows.
func (f *Filter) Of() any { return f.g }

// Filter implements lists.Rows.
func (f *Filter) Filter(ctx context.Context, p int, with plan.Filter) (plan.Filter, error) {
	r := f.g.at[p].Load()
	if r == nil {
		return nil, nil
	}
	if !r.Enter() {
		return nil, plan.ErrClosed
	}
	defer r.Leave()
	return r.store.Filter(ctx, &f.p.Steps, with)
}

// Bits implements lists.Rows. It prefers pure Go, which is resident first.
func (f *Filter) Bits(ctx context.Context) ([]uint64, error) {
	s := f.p.Steps
	s.Output = plan.OutputBits
	for r := range f.g.residences() {
		if !r.Enter() {
			return nil, plan.ErrClosed
		}
		defer r.Leave()
		var rows plan.Rows
		if err := r.store.Select(ctx, &s, &rows); err != nil {
			return nil, err
		}
		return rows.Selection(0), nil
	}
	return nil, fmt.Errorf("the table of a filter: %w", plan.ErrClosed)
}

// Estimate implements lists.Rows.
func (f *Filter) Estimate(p int) time.Duration {
	for _, r := range []*residence{f.g.at[p].Load(), f.g.at[0].Load()} {
		if r != nil {
			return r.model(&batchKey{g: f.g}).Alone(&cost.Features{Selection: f.p.work})
		}
	}
	return 0
}
