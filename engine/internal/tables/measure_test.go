package tables

import (
	"context"
	"errors"
	"testing"

	"heddle/engine/internal/pool"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
)

// measuring is a store that answers with groups or an error.
type measuring struct {
	plan.TableStore
	cells *plan.Cells
	err   error
}

func (m *measuring) Measure(context.Context, *plan.SelectBatch, *plan.Aggregation) (*plan.Cells, error) {
	return m.cells, m.err
}

// TestMeasureGroups takes groups from a device that measures them, and rows from all others.
func TestMeasureGroups(t *testing.T) {
	cells := &plan.Cells{Rows: []uint64{3, 0, 4}}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		where string
		kind  string // kind of the device
		store measuring
		cells bool
		err   error
	}{
		"a GPU":                 {"delay > 5", "gpu", measuring{cells: cells}, true, nil},
		"a CPU":                 {"delay > 5", "cpu", measuring{cells: cells}, false, nil},
		"another aggregation":   {"delay > 5", "gpu", measuring{err: plan.ErrUnsupported}, false, nil},
		"a fault":               {"delay > 5", "gpu", measuring{err: broken}, false, broken},
		"comparison of columns": {"delay > distance", "gpu", measuring{cells: cells}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := loaded(t, newPool(t, schedule.Options{}), flights(t, 32))
			for r := range g.residences() {
				store := c.store
				store.TableStore, r.p.Info.Type = r.store, c.kind
				r.store = &store
			}
			p, err := g.Compile(c.where)
			if err != nil {
				t.Fatal(err)
			}
			task := g.NewTask(plan.OutputBits, plan.StrategyAuto, false)
			task.Add(p)
			task.Measure(&plan.Aggregation{})
			if err := task.Do(t.Context(), &pool.Call{}); !errors.Is(err, c.err) {
				t.Fatalf("%v, want %v", err, c.err)
			}
			switch {
			case c.err != nil:
			case (task.Cells() != nil) != c.cells:
				t.Errorf("groups: %t, want %t", task.Cells() != nil, c.cells)
			case c.cells && task.Rows().Counts[0] != 7:
				t.Errorf("%d rows, want 7", task.Rows().Counts[0])
			case !c.cells && len(task.Rows().Selection(0)) == 0:
				t.Error("neither groups nor rows")
			}
			next := g.NewTask(plan.OutputBits, plan.StrategyAuto, false)
			if task.Done(nil); next.Cells() != nil || next.kind.measures != nil {
				t.Error("the next task has groups")
			}
		})
	}
}
