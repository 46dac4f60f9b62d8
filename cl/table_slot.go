package cl

import (
	"cmp"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// tableTile is the number of groups of a tile, TABLE_TILE of the kernels.
func tableTile(t Tuning) int { return cmp.Or(t.TableTile, 256) }

// tableLocal is the work-group size of rows.
func tableLocal(t Tuning) int {
	if t.Serial {
		return 1
	}
	return cmp.Or(t.TableWG, 64)
}

// tableLoads is the number of vectors whose words a work-item loads together.
func tableLoads(t Tuning) int { return cmp.Or(t.TableLoads, 4) }

// tableMemory is the local memory of a work-group of rows at most, in bytes: sets, and the
// places of 64 vectors.
func tableMemory(t Tuning) int { return 8*tableTile(t)*tableDepth + 1<<11 + tableTile(t)/8 }

// tableSlot holds the buffers of one batch of selections under way. They grow with the
// work. It belongs to the goroutine that took it.
type tableSlot struct {
	store *tableStore
	flight
	batch   scratch  // the upload, and counts
	rows    scratch  // bits, selection after selection
	columns *columns // nil before the first strategy of Nelson et al. 2020

	cut     tableCut
	selects *kernel      // of the round
	turn    uint32       // number of the round
	counted *ocl.Event   // of the download of counts
	bitsAt  int          // word of down at which bits begin
	args    []any        // of the kernel; reused
	submit  func() error // send, bound once
}

// tableLeast is the number of words for selections before a slot grows.
const tableLeast = 1 << 10

func (s *tableStore) newTableSlot() (*tableSlot, error) {
	x := &tableSlot{store: s, flight: newFlight(s.rt, s.rt.memory)}
	x.submit = x.send
	err := s.scratch.room(&x.batch, tableLeast, 0, "selections")
	if err == nil {
		err = s.scratch.room(&x.rows, plan.ListAlign, 0, "rows")
	}
	if err == nil {
		err = x.open(tableLeast, tableLeast)
	}
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// prepare finds the kernel of a round.
func (x *tableSlot) prepare() error {
	var with features
	if x.cut.checks {
		with |= useStored
	}
	if x.cut.decompresses() {
		with |= useColumns
	}
	id := x.store.program(with)
	if x.selects = x.kernels[id]; x.selects != nil {
		return nil
	}
	if _, err := x.rt.programOf(id); err != nil { // not in opened.do, where other callers would wait
		return err
	}
	return x.rt.do(func() (err error) {
		x.selects, err = x.kernelOf(id)
		return err
	})
}

// giveBack waits until no command is under way and returns the slot to the pool.
func (x *tableSlot) giveBack() {
	x.land()
	x.store.free.give(x)
}

func (x *tableSlot) release() {
	x.flight.release()
	for _, m := range []*scratch{&x.batch, &x.rows} {
		x.store.scratch.drop(m)
	}
	if x.columns != nil {
		x.columns.release()
	}
}
