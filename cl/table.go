package cl

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// tableStore is a table in device memory: bit vectors in the layout of the file, and a
// directory of them. Stored values follow when a batch first needs them. It is safe for
// concurrent use: each batch under way has a slot of its own.
type tableStore struct {
	rt     *opened
	t      *plan.Table
	arena  *arena
	places []place // of the vectors
	dir    *directory
	coarse *ocl.MemObject // of the directory
	fine   *ocl.MemObject
	plain  plainTiles

	free      pool[tableSlot]
	slotBytes atomic.Uint64 // of all slots
	scratch   scratchMemory

	loading chan struct{} // holds a token; its receiver may load values
	values  atomic.Pointer[tableValues]

	closed  atomic.Bool
	closing chan struct{} // closed by Close
}

var _ plan.TableStore = (*tableStore)(nil)

// tableSlots is the number of batches under way.
func tableSlots(t Tuning) int { return min(t.Slots, 4) }

// loadTable checks the vectors of t and copies them to the device. t must stay valid until
// the store is closed.
func loadTable(ctx context.Context, rt *opened, t *plan.Table) (*tableStore, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if err := testTable(ctx, rt, t.Word(), plan.Fused); err != nil {
		return nil, err
	}
	return loadUntested(ctx, rt, t)
}

// loadUntested is loadTable without a self-test.
func loadUntested(ctx context.Context, b *opened, t *plan.Table) (*tableStore, error) {
	s := &tableStore{rt: b, t: t, loading: make(chan struct{}, 1), closing: make(chan struct{})}
	s.loading <- struct{}{}
	s.free = newPool[tableSlot](tableSlots(b.tuning))
	s.scratch = newScratchMemory(b, b.memory, &s.slotBytes, "selecting rows")
	view := vectorSource(t)
	ranges, places, err := layout(view, b.info.MaxAlloc)
	if err != nil {
		return nil, b.outOfMemory("laying out vectors", err)
	}
	s.places = places
	// All memory that is surely needed must fit before any buffer is made.
	least := arenaBytes(ranges) + 4*(tableLeast+plan.ListAlign) // and a slot
	if err := b.memory.preflight(least, "vectors"); err != nil {
		return nil, err
	}
	if s.dir, err = newDirectory(t, tableTile(b.tuning)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := b.memory.reserve(least+s.dir.bytes, "vectors and their directory"); err != nil {
		return nil, err
	}
	b.memory.unreserve(least)
	err = func() (err error) {
		if s.coarse, err = b.loadWords(s.dir.coarse, "the directory of vectors"); err != nil {
			return err
		}
		if s.fine, err = b.loadWords(s.dir.fine, "the directory of vectors"); err != nil {
			return err
		}
		if s.arena, err = loadArena(b, view, ranges); err != nil {
			return err
		}
		if err = s.loadPlain(); err != nil {
			return err
		}
		_, err = b.programOf(s.program(0))
		return err
	}()
	if err != nil {
		s.release()
		return nil, err
	}
	// Only the device needs them from now on.
	s.dir.coarse, s.dir.fine, s.dir.plain = nil, nil, nil
	return s, nil
}

// vectorSource presents the vectors of t as lists of 32-bit words.
func vectorSource(t *plan.Table) *plan.Source {
	view := &plan.Source{Words: t.Words32, Lists: make([]plan.List, len(t.Vectors))}
	per := uint32(t.Word() / 32)
	if len(t.Words64) > 0 {
		view.Words = unsafe.Slice((*uint32)(unsafe.Pointer(&t.Words64[0])), 2*len(t.Words64))
	}
	for v, d := range t.Vectors {
		view.Lists[v] = plan.List{Off: d.Off * uint64(per), Words: d.Words * per}
	}
	return view
}

// lean tells whether programs have only the arguments that their rounds need. On GPUs each
// buffer that a launch names takes time. On other devices one more program does.
func (s *tableStore) lean() bool { return s.rt.info.Type == "gpu" }

// program returns the kernel of rows.cl for the table and the features of a round.
func (s *tableStore) program(with features) kernelID {
	if !s.lean() {
		with = useStored | useColumns
	}
	if s.t.Word() == 64 {
		with |= useWide
	}
	if !s.arena.single() {
		with |= useArenas
	}
	return kernelID{name: "rows", with: with}
}

// Select implements plan.TableStore. A round is one launch if sel has few selections or
// asks for counts.
func (s *tableStore) Select(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) error {
	if s.closed.Load() {
		return plan.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := sel.Validate(s.t); err != nil {
		return err
	}
	if sel.Strategy != plan.StrategyAuto {
		if !slices.Contains(tableStrategies, sel.Strategy) {
			return fmt.Errorf("%s: strategy %v: %w", s.rt.name(), sel.Strategy, plan.ErrUnsupported)
		}
		if err := testTable(ctx, s.rt, s.t.Word(), sel.Strategy); err != nil {
			return err
		}
	}
	return s.selectRows(ctx, sel, out)
}

// selectRows is Select without a check of its arguments.
func (s *tableStore) selectRows(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) error {
	began := time.Now()
	n := sel.Len()
	*out = plan.Rows{Counts: slices.Grow(out.Counts[:0], n)[:n], Bits: out.Bits[:0], Stride: wah.Bitset(uint64(s.t.Rows))}
	clear(out.Counts)
	if sel.Output == plan.OutputBits {
		out.Bits = slices.Grow(out.Bits, n*out.Stride)[:n*out.Stride]
	}
	if n > 0 && s.dir.tiles > 0 {
		if err := s.loadValues(ctx, sel); err != nil {
			return err
		}
		x, err := s.free.take(ctx, s.closing, s.newTableSlot)
		if err != nil {
			return err
		}
		if err := x.run(ctx, sel, out); err != nil {
			go x.giveBack() // once no command is under way
			return err
		}
		s.free.give(x)
	}
	out.Stats.Queries = uint64(n)
	for _, c := range out.Counts {
		out.Stats.Matches += uint64(c)
	}
	out.Stats.Wall = time.Since(began)
	return nil
}

// tableStrategies lists the strategies of the kernels.
var tableStrategies = []plan.Strategy{plan.Fused, plan.COA, plan.ROA, plan.Hybrid, plan.IdealHybrid}

// Strategies implements plan.TableStore.
func (s *tableStore) Strategies() []plan.Strategy { return slices.Clone(tableStrategies) }

// Explain implements plan.TableStore. It names the strategy and the compressed vectors
// that a selection reads, as often as the selection names them.
func (s *tableStore) Explain(sel *plan.SelectBatch, i int) string {
	strategy := sel.Strategy
	if strategy == plan.StrategyAuto {
		strategy = plan.Fused
	}
	vectors, bytes, checks := 0, uint64(0), 0
	for _, x := range sel.Selection(i) {
		switch x.Code {
		case plan.StepAny:
			vectors += int(x.To - x.From)
			bytes += s.t.VectorBytes(sel.Operands[x.From:x.To])
		case plan.StepCheck:
			checks++
		}
	}
	text := fmt.Sprintf("%v, %d vectors, %.1f MB", strategy, vectors, float64(bytes)/1e6)
	if strategy != plan.Fused {
		text += s.explainColumns(strategy, sel.Selection(i))
	}
	if checks > 0 {
		text += fmt.Sprintf(", %d checks of stored values", checks)
	}
	return text
}

// Memory implements plan.TableStore.
func (s *tableStore) Memory() uint64 {
	n := s.arena.bytes + s.dir.bytes + s.plain.bytes + s.slotBytes.Load()
	if v := s.values.Load(); v != nil {
		n += v.arena.bytes
	}
	return n
}

// Close waits for batches under way and frees the device memory. Callers that wait for a
// slot get plan.ErrClosed.
func (s *tableStore) Close() error {
	if s.closed.Swap(true) {
		return plan.ErrClosed
	}
	close(s.closing)
	<-s.loading // loaders of values have ended
	s.release()
	return nil
}

func (s *tableStore) release() {
	s.free.drain((*tableSlot).release)
	if v := s.values.Load(); v != nil {
		v.arena.release()
	}
	for _, m := range []*ocl.MemObject{s.coarse, s.fine} {
		if m != nil {
			m.Release()
		}
	}
	s.plain.release(s.rt)
	s.rt.memory.unreserve(s.dir.bytes)
	if s.arena != nil {
		s.arena.release()
	}
}
