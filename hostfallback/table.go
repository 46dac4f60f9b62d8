package hostfallback

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// table implements plan.TableStore on the words of its table, where they are, beside
// what vector keeps of each.
type table struct {
	t       *plan.Table
	opt     Options
	tile    tiling
	vectors []atomic.Pointer[vector]
	least   int          // words of tiles that are kept as plain rows
	limit   int64        // of the bytes of plain rows
	plain   atomic.Int64 // such bytes
	starts  atomic.Int64 // bytes of directories

	jobs sync.Pool // *tableJob

	mu     sync.RWMutex // held for reading by every batch, for writing by Close
	closed bool
}

var _ plan.TableStore = (*table)(nil)

// LoadTable checks the descriptors of t and makes what is kept of each vector, unless
// the backend is lazy. The words are used where they are.
func (b *Backend) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	if b.closed.Load() {
		return nil, &plan.DeviceError{Kind: plan.ErrClosed, Device: "host", Op: "load"}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	s := &table{t: t, opt: b.opt, tile: tilingOf(t), vectors: make([]atomic.Pointer[vector], len(t.Vectors))}
	s.least = int(s.tile.groups / plainShare)
	if s.limit = int64(min(b.opt.MemoryLimit, math.MaxInt64)); s.limit == 0 {
		s.limit = min(max(4*s.words(), 64<<20), 4<<30)
	}
	s.jobs.New = func() any { return &tableJob{table: s} }
	if !b.opt.Lazy {
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// words is the size of all vectors in bytes.
func (s *table) words() int64 { return 4*int64(len(s.t.Words32)) + 8*int64(len(s.t.Words64)) }

// Select implements plan.TableStore.
func (s *table) Select(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) error {
	start := time.Now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return &plan.DeviceError{Kind: plan.ErrClosed, Device: "host", Op: "select"}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := sel.Validate(s.t); err != nil {
		return err
	}
	if sel.Strategy != plan.StrategyAuto && !slices.Contains(tableStrategies, sel.Strategy) {
		return fmt.Errorf("host: strategy %v (has %v): %w", sel.Strategy, tableStrategies, plan.ErrUnsupported)
	}
	j := s.jobs.Get().(*tableJob)
	defer s.jobs.Put(j)
	if err := j.run(ctx, sel, out); err != nil {
		return err
	}
	out.Stats = plan.Stats{Queries: uint64(sel.Len())}
	for _, n := range out.Counts {
		out.Stats.Matches += uint64(n)
	}
	out.Stats.Wall = max(time.Since(start), 1)
	return nil
}

var tableStrategies = []plan.Strategy{plan.Fused, plan.Iterative, plan.Reduction}

// strategy is what sel runs under. Auto takes Fused, unless so few words stand for so
// many tiles that joining vectors costs less than going through their tiles.
func (s *table) strategy(sel *plan.SelectBatch) plan.Strategy {
	if sel.Strategy != plan.StrategyAuto {
		return sel.Strategy
	}
	words, operands := int64(0), int64(0)
	for _, x := range sel.Steps {
		if n := int(x.To - x.From); x.Code == plan.StepAny && n >= reductionOperands {
			operands += int64(n)
			for _, v := range sel.Operands[x.From:x.To] {
				words += int64(s.t.Vectors[v].Words)
			}
		} else if x.Code == plan.StepAny && n > 0 {
			return plan.Fused
		}
	}
	if words*reductionWords < operands*int64(s.tile.tiles) {
		return plan.Reduction
	}
	return plan.Fused
}

// Where Auto takes Reduction: at steps of so many operands, with one word or less for
// so many tiles of theirs. Tables of 32 M rows whose runs have 3 M, 300,000 and 100,000
// rows took 108, 178 and 653 us under Fused, 55, 118 and 411 us under Reduction.
const (
	reductionOperands = 16
	reductionWords    = 8
)

// Strategies implements plan.TableStore.
func (s *table) Strategies() []plan.Strategy { return slices.Clone(tableStrategies) }

// Explain implements plan.TableStore.
func (s *table) Explain(sel *plan.SelectBatch, i int) string {
	vectors, size, plain := 0, uint64(0), 0
	for _, x := range sel.Selection(i) {
		if x.Code != plan.StepAny {
			continue
		}
		vectors += int(x.To - x.From)
		size += s.t.VectorBytes(sel.Operands[x.From:x.To])
		for _, v := range sel.Operands[x.From:x.To] {
			if p := s.vectors[v].Load(); p != nil {
				plain += 8 * len(p.rows)
			}
		}
	}
	strategy := s.strategy(sel)
	text := fmt.Sprintf("%v, %d vectors, %.1f MB", strategy, vectors, float64(size)/1e6)
	if strategy == plan.Fused && plain > 0 {
		text += fmt.Sprintf(", dense tiles from %.1f MB of plain rows", float64(plain)/1e6)
	}
	return text
}

// Memory implements plan.TableStore: the words of the table, directories, plain rows.
func (s *table) Memory() uint64 {
	return 4*uint64(len(s.t.Packed)) + uint64(s.words()+s.starts.Load()+s.plain.Load())
}

// Close waits for running batches.
func (s *table) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// tiling is how rows are cut into tiles, ranges whose sets stay in the first-level
// cache.
type tiling struct {
	rows   uint32 // of the table
	groups uint32 // of a tile, a multiple of 64: tiles start at a word of a plain bitset
	size   uint32 // rows of a tile, a multiple of codec.SegmentLen
	tiles  int
}

// Groups of a tile.
const (
	tileGroups32 = 2048
	tileGroups64 = 1024
)

func tilingOf(t *plan.Table) tiling {
	x := tiling{rows: t.Rows, groups: tileGroups32}
	if t.Word() == 64 {
		x.groups = tileGroups64
	}
	x.size = x.groups * t.GroupBits()
	x.tiles = int((uint64(t.Rows) + uint64(x.size) - 1) / uint64(x.size))
	return x
}

// words is the number of words of the set of a tile.
func (x *tiling) words(tile int) int {
	return wah.Bitset(min(uint64(x.size), uint64(x.rows)-uint64(tile)*uint64(x.size)))
}

// groupsOf is the number of groups of a tile.
func (x *tiling) groupsOf(tile int) uint64 {
	size := uint64(x.size / x.groups)
	return (min(uint64(x.size), uint64(x.rows)-uint64(tile)*uint64(x.size)) + size - 1) / size
}

// last gives the bits of the last word of a tile that are rows.
func (x *tiling) last(tile int) uint64 {
	if r := x.rows % 64; r != 0 && tile == x.tiles-1 {
		return 1<<r - 1
	}
	return ^uint64(0)
}
