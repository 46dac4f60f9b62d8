package cl

import (
	"cmp"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// tableTile is the number of groups of a tile, TABLE_TILE of the kernels.
func (t Tuning) tableTile() int { return cmp.Or(t.TableTile, 256) }

// tableLocal is the size of a work-group of rows.
func (t Tuning) tableLocal() int {
	if t.Serial {
		return 1
	}
	return cmp.Or(t.TableWG, 64)
}

// tableLoads is the number of vectors whose words a work-item loads together.
func (t Tuning) tableLoads() int { return cmp.Or(t.TableLoads, 4) }

// tableMemory is the local memory of a work-group of rows at most, in bytes: sets, and
// where 64 vectors lie.
func (t Tuning) tableMemory() int { return 8*t.tableTile()*tableDepth + 1<<11 + t.tableTile()/8 }

// tableSlot is what one batch of selections in flight needs, as slot is for
// conjunctions. Its buffers grow with what is asked. It belongs to the goroutine that
// took it from tableStore.free.
type tableSlot struct {
	store *tableStore
	flight
	batch  scratch // what was uploaded, and counts
	rows   scratch // bits, selection after selection
	nelson *nelson // nil until a strategy of theirs is asked for

	cut     tableCut
	kernel  *kernel      // of the round
	turn    uint32       // number of the round
	counted *ocl.Event   // of the download of counts
	bitsAt  int          // word of down where bits begin
	args    []any        // of the kernel, kept for the next round
	submit  func() error // send, bound once
}

// rowsProgram is the kernel of rows.cl, of a program for each size of words.
const rowsProgram = "rows"

// tableLeast is how many words a slot has for selections, before it grows.
const tableLeast = 1 << 10

func (s *tableStore) newTableSlot() (*tableSlot, error) {
	x := &tableSlot{store: s, flight: newFlight(s.backend, &s.backend.budget)}
	x.submit = x.send
	err := s.room(&x.batch, tableLeast, "selections")
	if err == nil {
		err = s.room(&x.rows, plan.ListAlign, "rows")
	}
	if err == nil {
		err = x.open(tableLeast, tableLeast, s.program(0))
	}
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// prepare gets the kernel that a round asks for.
func (x *tableSlot) prepare() error {
	var with feature
	if x.cut.checks {
		with |= useStored
	}
	if x.cut.decompresses() {
		with |= useColumns
	}
	id := x.store.program(with)
	if x.kernel = x.kernels[id]; x.kernel != nil {
		return nil
	}
	p, err := x.backend.programOf(id)
	if err != nil {
		return err
	}
	return x.backend.do(func() error {
		k, err := p.CreateKernel(rowsProgram)
		if err != nil {
			return x.backend.fail("creating kernel "+rowsProgram, err)
		}
		x.kernel = &kernel{Kernel: k}
		x.kernels[id] = x.kernel
		return nil
	})
}

// room makes room for so many words in m; what was there is lost. Nothing may be under
// way.
func (s *tableStore) room(m *scratch, words int, what string) error {
	if words <= m.words {
		return nil
	}
	b := s.backend
	words = (words + plan.ListAlign - 1) / plan.ListAlign * plan.ListAlign
	bytes := 4 * uint64(words)
	if err := b.fits(bytes, what, "selecting rows"); err != nil {
		return err
	}
	s.drop(m) // it goes first: both may be large
	if err := b.reserve(bytes, what); err != nil {
		return err
	}
	buffer, err := b.buffer(ocl.MemReadWrite, bytes, what)
	if err != nil {
		b.unreserve(bytes)
		return err
	}
	*m = scratch{buffer, words}
	s.slotBytes.Add(bytes)
	return nil
}

// drop frees the buffer of m.
func (s *tableStore) drop(m *scratch) {
	if m.buffer != nil {
		bytes := 4 * uint64(m.words)
		m.buffer.Release()
		s.backend.unreserve(bytes)
		s.slotBytes.Add(-bytes)
		*m = scratch{}
	}
}

// grow makes pinned memory of at least so many words of p; what was there is lost.
func (x *tableSlot) grow(p **pinned, words int) error {
	if words <= len((*p).words) {
		return nil
	}
	grown, err := x.backend.newPinned(4 * words)
	if err != nil {
		return err
	}
	(*p).release(x.backend)
	*p = grown
	return nil
}

// giveBack waits until nothing is under way and lets others have the slot.
func (x *tableSlot) giveBack() {
	x.land()
	x.store.free.give(x)
}

func (x *tableSlot) release() {
	x.flight.release()
	for _, m := range []*scratch{&x.batch, &x.rows} {
		x.store.drop(m)
	}
	if x.nelson != nil {
		x.nelson.release()
	}
}
