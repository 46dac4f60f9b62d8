package bitmap

import (
	"cmp"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/engine/plan"
)

// tileGroups is the number of groups of a tile, TABLE_TILE of the kernels.
func tileGroups(t device.Tuning) int { return cmp.Or(t.TableTile, 256) }

// workGroup is the work-group size of rows.
func workGroup(t device.Tuning) int { return t.Local(cmp.Or(t.TableWG, 64)) }

// sliceGroup is the work-group size of slices, SLICE_WG, and sliceTiles the number of tiles that a group has at a time.
func sliceGroup(t device.Tuning) int { return t.Local(256) }
func sliceTiles(t device.Tuning) int { return t.Local(8) }

// loadsAtOnce is the number of vectors whose words a work-item loads together.
func loadsAtOnce(t device.Tuning) int { return cmp.Or(t.TableLoads, 4) }

// localMemory is the local memory of a work-group of rows at most, in bytes: sets, and the
// places of 64 vectors.
func localMemory(t device.Tuning) int { return 8*tileGroups(t)*maxDepth + 1<<11 + tileGroups(t)/8 }

// slot holds the buffers of one batch of selections under way. They grow with the
// work. It belongs to the goroutine that took it.
type slot struct {
	store *Store
	device.Flight
	batch   device.Scratch // the upload, and counts
	rows    device.Scratch // bits, selection after selection
	checks  device.Scratch // bits of checks of stored values, check after check
	columns *columns       // nil before the first strategy of Nelson et al. 2020

	cut     cut
	selects device.Kernel[rowsArguments] // the kernels of the round
	slices  device.Kernel[slicesArguments]
	turn    uint32       // number of the round
	counted *ocl.Event   // the download of counts
	bits    *loan        // receives the bits of a round; nil before the first one, and once they are lent
	submit  func() error // send, bound once
	region  *region      // for the rows of the only selection, in place of rows; nil: none
	with    *filter.Set  // which the rows of the only selection must be in; nil: none
	after   *after       // work on the rows of the only selection; nil: none
	units   []unit       // of the present order
}

// region is a place in a buffer.
type region struct {
	buffer   *ocl.MemObject
	at       int // where the rows begin, in units of four words
	countsAt int // where the numbers of rows of the tiles begin, in units of four words; noCounts: nowhere
}

// after is work behind the kernel that writes rows.
type after struct {
	words int                       // behind the upload of the selection, at a place at
	back  int                       // words that come back from there on
	room  int                       // words that the device has there
	fused bool                      // a selection in slices alone has no other kernel than that of send
	write func(up []uint32, at int) // makes the upload, which is zero before
	send  func(at int) error        // enqueues commands
}

// leastWords is the number of words for selections before a slot grows.
const leastWords = 1 << 10

func (s *Store) newTableSlot() (*slot, error) {
	x := &slot{store: s, Flight: device.NewFlight(s.rt, s.rt.Memory)}
	x.submit = x.send
	err := s.scratch.Room(&x.batch, leastWords, 0, "selections")
	if err == nil {
		err = s.scratch.Room(&x.rows, plan.ListAlign, 0, "rows")
	}
	if err == nil {
		err = x.Open(leastWords, leastWords)
	}
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// giveBack waits until no command is under way and returns the slot to the pool.
func (x *slot) giveBack() {
	x.Land()
	x.store.free.Give(x)
}

func (x *slot) release() {
	x.Flight.Release()
	if x.bits != nil {
		x.bits.release()
	}
	for _, m := range []*device.Scratch{&x.batch, &x.rows, &x.checks} {
		x.store.scratch.Drop(m)
	}
	if x.columns != nil {
		x.columns.release()
	}
}
