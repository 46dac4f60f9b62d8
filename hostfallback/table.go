package hostfallback

import (
	"context"
	"fmt"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/bitmap"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/work"
)

// table implements plan.TableStore on the words of a plan.Table, which it does not copy.
type table struct {
	gate work.Gate
	data *plan.Table
	*bitmap.Table
}

var _ plan.TableStore = (*table)(nil)

// LoadTable checks the descriptors of t.
func (b *Backend) LoadTable(ctx context.Context, t *plan.Table) (s plan.TableStore, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if err := b.gate.Enter(ctx, "load"); err != nil {
		return nil, err
	}
	defer b.gate.Leave()
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return &table{data: t, Table: bitmap.Load(t, b.resources(bitmap.Usual(t)))}, nil
}

// Select implements plan.TableStore.
func (t *table) Select(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) error {
	return work.Run(ctx, &t.gate, "select", &out.Stats, func() error {
		if err := sel.Validate(t.data); err != nil {
			return err
		}
		return t.Table.Select(ctx, sel, out)
	})
}

// Filter implements plan.TableStore.
func (t *table) Filter(ctx context.Context, sel *plan.SelectBatch, with plan.Filter) (plan.Filter, error) {
	if sel.Len() != 1 {
		return nil, fmt.Errorf("host: a filter of %d selections, want 1", sel.Len())
	}
	sets, err := filter.All(nil, []plan.Filter{with}, t.data.Rows)
	if err != nil {
		return nil, err
	}
	one := *sel
	one.Output = plan.OutputBits
	var rows plan.Rows
	if err := t.Select(ctx, &one, &rows); err != nil {
		return nil, err
	}
	bits := rows.Selection(0)
	if sets[0] != nil {
		sets[0].And(bits, 0)
	}
	f, err := filter.New(t.data.Rows, bits)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Strategies implements plan.TableStore.
func (t *table) Strategies() []plan.Strategy { return bitmap.Strategies() }

// Close implements plan.TableStore. It waits for running batches.
func (t *table) Close() error {
	t.gate.Close()
	return nil
}
