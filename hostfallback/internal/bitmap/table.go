// Package bitmap evaluates predicates on compressed bit vectors.
//
// A selection runs tile by tile, a tile being a range of rows whose sets stay in the
// first-level cache: all steps of the selection run on one tile before the next. Dense
// tiles of a vector are kept as plain rows beside the compressed words as far as memory
// allows, and eight vectors are ORed at a time. The words of all other tiles are
// walked, a fill being one operation. Ranges of stored codes are evaluated on bit slices
// (package bitslice), where candidate rows are.
package bitmap

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/hostfallback/work"
)

// Table evaluates selections on the words of a plan.Table, which it does not copy. It is
// safe for concurrent use.
type Table struct {
	data       *plan.Table
	work       work.Resources
	tile       tiling
	vectors    []atomic.Pointer[vector]
	plainWords int          // a tile with this number of words or more is kept as plain rows, as far as memory allows
	startBytes atomic.Int64 // bytes of the directories of tiles

	batches work.Pool[batch]
}

// Load returns the table of data, which must be valid.
func Load(data *plan.Table, r work.Resources) *Table {
	t := &Table{data: data, work: r, tile: tilingOf(data), vectors: make([]atomic.Pointer[vector], len(data.Vectors))}
	t.plainWords = int(t.tile.tileGroups / plainShare)
	return t
}

// Usual is the size of the data that a table keeps beside its words, if memory allows: plain
// rows of dense tiles.
func Usual(data *plan.Table) uint64 { return 4 * vectorBytes(data) }

// vectorBytes is the size of all vectors of a table.
func vectorBytes(data *plan.Table) uint64 {
	return 4*uint64(len(data.Words32)) + 8*uint64(len(data.Words64))
}

var strategies = []plan.Strategy{plan.Fused, plan.Iterative, plan.Reduction}

// Strategies returns the strategies of Select besides plan.StrategyAuto.
func Strategies() []plan.Strategy { return slices.Clone(strategies) }

// Select evaluates the selections of sel, which must be valid, into out. A strategy that
// is not in Strategies is a plan.ErrUnsupported.
func (t *Table) Select(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) (err error) {
	if sel.Strategy != plan.StrategyAuto && !slices.Contains(strategies, sel.Strategy) {
		return fmt.Errorf("host: strategy %v (has %v): %w", sel.Strategy, strategies, plan.ErrUnsupported)
	}
	b := t.batches.Get()
	defer t.batches.Done(b, &err)
	defer mapped.Catch(mapped.Watch(), &err)
	if err := b.run(ctx, t, sel, out); err != nil {
		return err
	}
	out.Stats = plan.Stats{Queries: uint64(sel.Len())}
	for _, n := range out.Counts {
		out.Stats.Matches += uint64(n)
	}
	return nil
}

// strategy returns the strategy of sel. Auto is Fused, unless so few words stand for so
// many tiles that joining compressed vectors costs less than visiting their tiles.
func (t *Table) strategy(sel *plan.SelectBatch) plan.Strategy {
	if sel.Strategy != plan.StrategyAuto {
		return sel.Strategy
	}
	words, operands := int64(0), int64(0)
	for _, x := range sel.Steps {
		if n := int(x.To - x.From); x.Code == plan.StepAny && n >= reductionOperands {
			operands += int64(n)
			for _, v := range sel.Operands[x.From:x.To] {
				words += int64(t.data.Vectors[v].Words)
			}
		} else if x.Code == plan.StepAny && n > 0 {
			return plan.Fused
		}
	}
	if words*reductionWords < operands*int64(t.tile.tiles) {
		return plan.Reduction
	}
	return plan.Fused
}

// Auto takes Reduction for steps of at least reductionOperands vectors with at most one
// word for reductionWords tiles. On tables of 32 M rows with runs of 3 M, 300,000 and
// 100,000 rows, Fused took 108, 178 and 653 µs and Reduction 55, 118 and 411 µs.
const (
	reductionOperands = 16
	reductionWords    = 8
)

// Explain describes the evaluation of selection i of sel: strategy, number and size of
// the vectors, size of their plain rows.
func (t *Table) Explain(sel *plan.SelectBatch, i int) string {
	vectors, size, plain := 0, uint64(0), 0
	for _, x := range sel.Selection(i) {
		if x.Code != plan.StepAny {
			continue
		}
		vectors += int(x.To - x.From)
		size += t.data.VectorBytes(sel.Operands[x.From:x.To])
		for _, v := range sel.Operands[x.From:x.To] {
			if p := t.vectors[v].Load(); p != nil {
				plain += 8 * len(p.rows)
			}
		}
	}
	strategy := t.strategy(sel)
	text := fmt.Sprintf("%v, %d vectors, %.1f MB", strategy, vectors, float64(size)/1e6)
	if strategy == plan.Fused && plain > 0 {
		text += fmt.Sprintf(", dense tiles from %.1f MB of plain rows", float64(plain)/1e6)
	}
	return text
}

// Memory returns the bytes of the table's words, directories and plain rows.
func (t *Table) Memory() uint64 {
	return 4*uint64(len(t.data.Slices)) + vectorBytes(t.data) + uint64(t.startBytes.Load()+t.work.Memory.Used())
}
