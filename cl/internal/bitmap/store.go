package bitmap

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec/wah"
	"heddle/engine/plan"
)

// Store is a table in device memory: bit vectors in the layout of the file, and a
// directory of them. Stored values follow when a batch first needs them. It is safe for
// concurrent use: each batch under way has a slot of its own.
type Store struct {
	rt     *device.Runtime
	t      *plan.Table
	arena  *lists.Arena
	places []lists.Place // where the vectors lie
	dir    *directory
	coarse *ocl.MemObject // directory.coarse on the device
	fine   *ocl.MemObject // directory.fine
	plain  plainTiles

	free      device.Pool[slot]
	slotBytes atomic.Uint64 // bytes of all slots
	scratch   device.ScratchMemory
	loans     loans

	loading chan struct{} // holds a token; its receiver may load values
	values  atomic.Pointer[values]
	evens   sync.Map // whether all codes of a column are multiples of a divisor, by both

	closed    atomic.Bool
	closing   chan struct{} // closed by Close
	preparing preparing
}

var _ plan.TableStore = (*Store)(nil)

// maxSlots is the number of batches under way.
func maxSlots(t device.Tuning) int { return min(t.Slots, 4) }

// Load checks the vectors of t and copies them to the device. t must stay valid until
// the store is closed.
func Load(ctx context.Context, rt *device.Runtime, t *plan.Table) (*Store, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if err := selfTestOnce(ctx, rt, t.Word(), plan.Fused); err != nil {
		return nil, err
	}
	return load(ctx, rt, t)
}

// load is Load without a self-test.
func load(ctx context.Context, b *device.Runtime, t *plan.Table) (*Store, error) {
	s := &Store{rt: b, t: t, loading: make(chan struct{}, 1), closing: make(chan struct{})}
	s.loading <- struct{}{}
	s.free = device.NewPool[slot](maxSlots(b.Tuning))
	s.scratch = device.NewScratchMemory(b, b.Memory, &s.slotBytes, "selecting rows")
	view := vectorSource(t)
	ranges, places, err := lists.Layout(view, b.Info.MaxAlloc, lists.MaxArenas)
	if err != nil {
		return nil, b.OutOfMemory("laying out vectors", err)
	}
	s.places = places
	// All memory that is surely needed must fit before any buffer is made.
	least := lists.ArenaBytes(ranges) + 4*(leastWords+plan.ListAlign) // and a slot
	if err := b.Memory.Preflight(least, "vectors"); err != nil {
		return nil, err
	}
	if s.dir, err = newDirectory(t, tileGroups(b.Tuning)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := b.Memory.Reserve(least+s.dir.bytes, "vectors and their directory"); err != nil {
		return nil, err
	}
	b.Memory.Unreserve(least)
	err = func() (err error) {
		if s.coarse, err = b.LoadWords(ctx, s.dir.coarse, "the directory of vectors"); err != nil {
			return err
		}
		if s.fine, err = b.LoadWords(ctx, s.dir.fine, "the directory of vectors"); err != nil {
			return err
		}
		if s.arena, err = lists.LoadArena(ctx, b, view, ranges); err != nil {
			return err
		}
		if err = s.loadPlain(ctx); err != nil {
			return err
		}
		_, err = b.ProgramOf(s.program(0).KernelID)
		return err
	}()
	if err != nil {
		device.Free(ctx, b, s.release)
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
func (s *Store) lean() bool { return s.rt.Info.Type == "gpu" }

// program returns the kernel of rows.cl for the table and the features of a round.
func (s *Store) program(with device.Features) device.Kernel[rowsArguments] {
	if !s.lean() {
		with = useChecks | useColumns
	}
	if s.t.Word() == 64 {
		with |= useWide
	}
	if !s.arena.Single() {
		with |= useArenas
	}
	return selectRows.For(with)
}

// Select implements plan.TableStore. A round is one launch if sel has few selections or
// asks for counts.
func (s *Store) Select(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) error {
	if err := s.check(ctx, sel); err != nil {
		return err
	}
	if sel.Strategy == plan.StrategyAuto && s.strategyOf(sel) == plan.IdealHybrid {
		if err := selfTestOnce(ctx, s.rt, s.t.Word(), plan.IdealHybrid); err != nil {
			return err
		}
		ideal := *sel
		ideal.Strategy = plan.IdealHybrid
		if err := s.run(ctx, &ideal, out); !device.IsExceeded(err) {
			return err
		}
	}
	return s.run(ctx, sel, out)
}

// check checks the arguments of Select and Filter.
func (s *Store) check(ctx context.Context, sel *plan.SelectBatch) error {
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
		if !slices.Contains(strategies, sel.Strategy) {
			return fmt.Errorf("%s: strategy %v: %w", s.rt.Name(), sel.Strategy, plan.ErrUnsupported)
		}
		return selfTestOnce(ctx, s.rt, s.t.Word(), sel.Strategy)
	}
	return nil
}

// run is Select without a check of its arguments.
func (s *Store) run(ctx context.Context, sel *plan.SelectBatch, out *plan.Rows) error {
	began := time.Now()
	n := sel.Len()
	out.Release()
	*out = plan.Rows{Counts: slices.Grow(out.Counts[:0], n)[:n], Bits: out.Bits[:0], Stride: wah.Bitset(uint64(s.t.Rows)), Lend: out.Lend}
	clear(out.Counts)
	if n > 0 && s.dir.tiles > 0 {
		if err := s.onSlot(ctx, sel, func(x *slot) error { return x.run(ctx, sel, out) }); err != nil {
			out.Release()
			return err
		}
	}
	out.Stats.Queries = uint64(n)
	for _, c := range out.Counts {
		out.Stats.Matches += uint64(c)
	}
	out.Stats.Wall = time.Since(began)
	return nil
}

// onSlot calls run with a slot, once the values that sel needs are there.
func (s *Store) onSlot(ctx context.Context, sel *plan.SelectBatch, run func(x *slot) error) error {
	if err := s.loadValues(ctx, sel); err != nil {
		return err
	}
	x, err := s.free.Take(ctx, s.closing, s.newTableSlot)
	if err != nil {
		return err
	}
	if err := run(x); err != nil {
		go x.giveBack() // once no command is under way
		return err
	}
	s.free.Give(x)
	return nil
}

// strategies lists the strategies of the kernels.
var strategies = []plan.Strategy{plan.Fused, plan.COA, plan.ROA, plan.Hybrid, plan.IdealHybrid}

// Strategies implements plan.TableStore.
func (s *Store) Strategies() []plan.Strategy { return slices.Clone(strategies) }

// Explain implements plan.TableStore. It names the strategy and the compressed vectors
// that a selection reads, as often as the selection names them.
func (s *Store) Explain(sel *plan.SelectBatch, i int) string {
	strategy := s.strategyOf(sel)
	vectors, bytes, checks := 0, uint64(0), 0
	for _, x := range sel.Selection(i) {
		switch x.Code {
		case plan.StepAny:
			vectors += int(x.To - x.From)
			bytes += s.t.VectorBytes(sel.Operands[x.From:x.To])
		case plan.StepCheck, plan.StepCompare:
			checks++
		}
	}
	if inSlices(sel.Selection(i)) {
		return fmt.Sprintf("slices, %d checks of stored values", checks)
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
func (s *Store) Memory() uint64 {
	n := s.arena.Bytes + s.dir.bytes + s.plain.bytes + s.slotBytes.Load()
	if v := s.values.Load(); v != nil {
		n += v.arena.Bytes + v.bytes
	}
	return n
}

// Close waits for batches under way and frees the device memory. Callers that wait for a
// slot get plan.ErrClosed. Memory on loan stays valid until it is returned.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return plan.ErrClosed
	}
	close(s.closing)
	s.preparing.end()
	<-s.loading // loaders of values have ended
	s.release()
	return nil
}

func (s *Store) release() {
	s.free.Drain((*slot).release)
	s.loans.close()
	if v := s.values.Load(); v != nil {
		v.release(s.rt)
	}
	device.ReleaseBuffers(s.coarse, s.fine)
	s.plain.release(s.rt)
	s.rt.Memory.Unreserve(s.dir.bytes)
	if s.arena != nil {
		s.arena.Release()
	}
}
