package cl

import (
	"cmp"
	"fmt"

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
	x := &tableSlot{store: s, flight: newFlight(s.backend)}
	x.submit = x.send
	err := x.room(&x.batch, tableLeast, "selections")
	if err == nil {
		err = x.room(&x.rows, plan.ListAlign, "rows")
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
func (x *tableSlot) room(m *scratch, words int, what string) error {
	if words <= m.words {
		return nil
	}
	b := x.backend
	if bytes := 4 * uint64(words); bytes > b.dev.info.MaxAlloc {
		return outOfMemory(b, "selecting rows", fmt.Errorf("%s take %d bytes, the largest buffer has %d", what, bytes, b.dev.info.MaxAlloc))
	}
	if m.buffer != nil { // it goes first: both may be large
		m.buffer.Release()
		x.unreserve(m.words)
		*m = scratch{}
	}
	if err := b.reserve(4*uint64(words), what); err != nil {
		return err
	}
	buffer, err := b.buffer(ocl.MemReadWrite, 4*uint64(words), what)
	if err != nil {
		b.unreserve(4 * uint64(words))
		return err
	}
	*m = scratch{buffer, words}
	x.store.slotBytes.Add(4 * uint64(words))
	return nil
}

func (x *tableSlot) unreserve(words int) {
	bytes := 4 * uint64(words)
	x.backend.unreserve(bytes)
	x.store.slotBytes.Add(-bytes)
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
		if m.buffer != nil {
			m.buffer.Release()
			x.unreserve(m.words)
		}
	}
	if x.nelson != nil {
		x.nelson.release()
	}
}
