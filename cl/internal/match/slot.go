package match

import (
	"cmp"
	"context"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/primitive"
	"heddle/engine/plan"
)

// slot holds the buffers and kernel objects of one round under way. It belongs to the
// goroutine that took it until the round has ended, also if its caller gives up.
type slot struct {
	device.Flight
	matcher *Matcher
	round   round

	batch   *ocl.MemObject      // the upload
	decoded *ocl.MemObject      // decoded shortest lists, tile by tile
	found   *ocl.MemObject      // matches, tile by tile
	out     *ocl.MemObject      // matches per tile, then docIDs
	loads   *ocl.MemObject      // words that kernels loaded, if they count
	look    *primitive.LookBack // state of merges; nil before the first one that looks back

	firstTile []uint32 // the first tile of each query

	tables    *lists.Tables
	countOnly bool
	docsAt    int // word of out where docIDs begin
	matches   int // matches of a finished round
	fetched   int // words of out that the first download takes

	submit func() error // enqueue, bound once
}

// FirstDown is the size in bytes of the pinned memory for results. It grows when a round
// brings more.
const FirstDown = 4 << 20

// sizes returns the sizes of a slot's buffers in bytes, for rounds of so many tiles: one word per
// element of a round, the upload, the results.
func sizes(tiles, tile int) (elements, up, out uint64) {
	elements = 4 * uint64(tiles) * uint64(tile)
	return elements, 4 * uint64(uploadWords(tiles)), 4*uint64(tiles+4) + elements
}

// slotBytes returns the device memory of a slot.
func slotBytes(tiles, tile int) uint64 {
	elements, up, out := sizes(tiles, tile)
	return 2*elements + up + out
}

// fitTiles halves a number of tiles until all slots take the given number of bytes at most, or it
// has reached the least number.
func fitTiles(tiles, tile, slots int, bytes uint64, least int) int {
	for tiles > least && uint64(slots)*slotBytes(tiles, tile) > bytes {
		tiles /= 2
	}
	return tiles
}

// ScratchBytes returns the device memory of all slots.
func (m *Matcher) ScratchBytes() uint64 { return uint64(m.most) * slotBytes(m.maxTiles, int(m.tile)) }

func (m *Matcher) newSlot() (*slot, error) {
	rt := m.set.Device
	tileBytes, upBytes, outBytes := sizes(m.maxTiles, int(m.tile))
	x := &slot{matcher: m, Flight: device.NewFlight(rt, m.set.Memory), firstTile: make([]uint32, maxQueries+1)}
	x.submit = x.enqueue
	err := func() (err error) {
		for _, b := range []struct {
			to    **ocl.MemObject
			bytes uint64
			what  string
		}{
			{&x.batch, upBytes, "a batch"}, {&x.decoded, tileBytes, "decoded lists"}, {&x.found, tileBytes, "matches"},
			{&x.out, outBytes, "results"}, {&x.loads, 16, "the load counter"},
		} {
			if *b.to, err = rt.Buffer(ocl.MemReadWrite, b.bytes, b.what); err != nil {
				return err
			}
		}
		return x.Open(int(upBytes)/4+4, int(min(outBytes, FirstDown))/4)
	}()
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// readLoads returns the words that kernels have loaded in the round and the segments that they have decoded.
func (x *slot) readLoads(ctx context.Context) (words, segments uint64, err error) {
	var n [4]uint32
	err = x.ReadNow(ctx, x.loads, n[:])
	return uint64(n[0]) + uint64(n[1])<<32, uint64(n[2]) + uint64(n[3])<<32, err
}

// addStats adds the cost of the round to st.
func (x *slot) addStats(ctx context.Context, st *plan.Stats) error {
	r := &x.round
	st.Candidates += r.candidates
	st.BytesUp += uint64(4 * r.words)
	if r.tiles == 0 {
		return nil
	}
	st.BytesDown += uint64(4 * x.fetched)
	if rest := x.docsAt + x.matches - x.fetched; !x.countOnly && x.round.parts == 0 && rest > 0 {
		st.BytesDown += uint64(4 * rest)
	}
	if err := x.AddTimes(st); err != nil {
		return err
	}
	if x.Device.CountLoads {
		words, segments, err := x.readLoads(ctx)
		if err != nil {
			return err
		}
		st.BytesMoved += 4*words + r.decodeBytes
		st.Blocks += r.segments + segments
	}
	return nil
}

// aux returns the buffer of the tables, or any buffer if there are none.
func (x *slot) aux() *ocl.MemObject { return cmp.Or(x.tables.Buffer, x.matcher.set.Arena.Buffers[0]) }

// giveBack waits until no command is under way and returns the slot of a round that failed.
func (x *slot) giveBack() {
	x.Land()
	x.matcher.slots.Give(x)
}

func (x *slot) release() {
	x.ReleaseEvents()
	x.Flight.Release()
	device.ReleaseBuffers(x.batch, x.decoded, x.found, x.out, x.loads)
	if x.look != nil {
		x.look.Release()
	}
}
