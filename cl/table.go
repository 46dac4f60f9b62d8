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

// tableStore is a table in device memory: vectors as they lie in the file, and a
// directory of them. Stored values follow when a batch first asks for them. It is safe
// for concurrent use: each batch in flight has a slot of its own.
type tableStore struct {
	backend *Backend
	t       *plan.Table
	arena   *arena
	places  []place // of the vectors
	dir     *directory
	coarse  *ocl.MemObject // of the directory
	fine    *ocl.MemObject
	plain   plainTiles

	free      pool[tableSlot]
	slotBytes atomic.Uint64 // of all slots

	loading chan struct{} // holds a token; who takes it may load values
	values  atomic.Pointer[tableValues]

	closed  atomic.Bool
	closing chan struct{} // closed by Close
}

var _ plan.TableStore = (*tableStore)(nil)

// tableSlots is how many batches of selections are in flight.
func (t Tuning) tableSlots() int { return min(t.Slots, 4) }

// LoadTable checks the vectors of t and copies them to the device. t must stay valid
// until the store is closed.
func (b *Backend) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if err := b.testTables(ctx, tableTest{t.Word(), plan.Fused}); err != nil {
		return nil, err
	}
	s, err := b.loadTable(ctx, t)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// loadTable is LoadTable without a self-test.
func (b *Backend) loadTable(ctx context.Context, t *plan.Table) (*tableStore, error) {
	s := &tableStore{backend: b, t: t, loading: make(chan struct{}, 1), closing: make(chan struct{})}
	s.loading <- struct{}{}
	s.free = newPool[tableSlot](b.tuning.tableSlots())
	view := vectorSource(t)
	ranges, places, err := layout(view, b.dev.info.MaxAlloc)
	if err != nil {
		return nil, b.outOfMemory("laying out vectors", err)
	}
	s.places = places
	// All that is surely needed must fit before anything is allocated.
	least := arenaBytes(ranges) + 4*(tableLeast+plan.ListAlign) // and a slot
	if err := b.reserve(least, "vectors"); err != nil {
		return nil, err
	}
	b.unreserve(least)
	if s.dir, err = newDirectory(t, b.tuning.tableTile()); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := b.reserve(least+s.dir.bytes, "vectors and their directory"); err != nil {
		return nil, err
	}
	b.unreserve(least)
	err = func() (err error) {
		if s.coarse, err = b.loadWords(s.dir.coarse, "the directory of vectors"); err != nil {
			return err
		}
		if s.fine, err = b.loadWords(s.dir.fine, "the directory of vectors"); err != nil {
			return err
		}
		if s.arena, err = b.loadArena(view, ranges); err != nil {
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
	// The device has them.
	s.dir.coarse, s.dir.fine, s.dir.plain = nil, nil, nil
	return s, nil
}

// vectorSource sees the vectors of t as lists of words of 32 bits.
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

// loadWords makes a buffer of words that nobody writes. Their bytes are the caller's to
// reserve, with a pad of plan.ListAlign words.
func (b *Backend) loadWords(words []uint32, what string) (*ocl.MemObject, error) {
	bytes := 4 * uint64(len(words)+plan.ListAlign)
	if bytes > b.dev.info.MaxAlloc {
		return nil, b.outOfMemory("allocating "+what, fmt.Errorf("it takes %d bytes, the largest buffer has %d", bytes, b.dev.info.MaxAlloc))
	}
	m, err := b.buffer(ocl.MemReadOnly, bytes, what)
	if err != nil {
		return nil, err
	}
	if err := b.writeWords(m, 0, words); err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}

// lean tells whether programs have no arguments that their rounds do not need.
func (s *tableStore) lean() bool { return s.backend.dev.info.Type == "gpu" }

// program is what has the kernel of rows.cl for the table, with what a round asks for:
// on GPUs each buffer that a launch names takes time, elsewhere one more program does.
func (s *tableStore) program(with feature) kernelID {
	if !s.lean() {
		with = useStored | useColumns
	}
	if s.t.Word() == 64 {
		with |= useWide
	}
	if s.arena.buffers[1] != s.arena.buffers[0] {
		with |= useArenas
	}
	return kernelID{rowsProgram, with}
}

// Select implements plan.TableStore, in rounds of one launch each where s has few
// selections or wants no bits.
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
			return fmt.Errorf("%s: strategy %v: %w", s.backend.dev, sel.Strategy, plan.ErrUnsupported)
		}
		if err := s.backend.testTables(ctx, tableTest{s.t.Word(), sel.Strategy}); err != nil {
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
			go x.giveBack() // once nothing is under way
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

// tableStrategies are those that the kernels have.
var tableStrategies = []plan.Strategy{plan.Fused, plan.COA, plan.ROA, plan.Hybrid, plan.IdealHybrid}

// Strategies implements plan.TableStore.
func (s *tableStore) Strategies() []plan.Strategy { return slices.Clone(tableStrategies) }

// Explain implements plan.TableStore: the strategy, and the compressed vectors that a
// selection reads, as often as it names them.
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

// Close waits for what is in flight and frees the device memory; callers that wait for
// a place get plan.ErrClosed.
func (s *tableStore) Close() error {
	if s.closed.Swap(true) {
		return plan.ErrClosed
	}
	close(s.closing)
	<-s.loading // whoever loads values has ended
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
	s.plain.release(s.backend)
	s.backend.unreserve(s.dir.bytes)
	if s.arena != nil {
		s.arena.release()
	}
}
