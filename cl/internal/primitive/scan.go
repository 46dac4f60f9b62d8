package primitive

import (
	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
)

// The kernels and their arguments.
var (
	scanSums     = device.NewKernel[scanSumsArguments]("scan_sums")
	scanTiles    = device.NewKernel[scanTilesArguments]("scan_tiles")
	scanAhead    = device.NewKernel[scanAheadArguments]("scan_ahead")
	compactTiles = device.NewKernel[compactTilesArguments]("compact_tiles")
	compactAhead = device.NewKernel[compactAheadArguments]("compact_ahead")
	progress     = device.NewKernel[progressArguments]("progress")
)

type scanSumsArguments struct {
	in, flags, sums *ocl.MemObject
	n, first        int
	what            [4]uint32
}

type scanTilesArguments struct {
	in, out, sums, carry     *ocl.MemObject
	n, first, tiles, carryAt int
}

type compactTilesArguments struct {
	in, flags, out, sums, carry *ocl.MemObject
	n, first, tiles, carryAt    int
	what                        [4]uint32
}

type scanAheadArguments struct {
	in, out, state, carry *ocl.MemObject
	n, ticket, epoch      int
}

type compactAheadArguments struct {
	in, flags, out, state, carry *ocl.MemObject
	n, ticket, epoch             int
	what                         [4]uint32
}

type progressArguments struct {
	out, state    *ocl.MemObject
	ticket, epoch int
}

// Scanner holds the buffers of scans or of compactions.
type Scanner struct {
	In, Out *ocl.MemObject
	Flags   *ocl.MemObject  // any buffer without flags
	Sums    *ocl.MemObject  // sums of the tiles of a chunk, for the plain form
	Carry   *ocl.MemObject  // the sum of all elements; in the plain form of the chunks so far, in one of two words, 0 at first
	Look    *LookBack       // nil: the plain form
	Program device.KernelID // the program that has the kernels; zero: a program of their own
	compact bool
	what    [4]uint32 // the elements that are kept or added, as in kernels/scan.cl; zero: all are added
}

// Enqueue enqueues a scan or a compaction of n elements. It runs in Runtime.Do.
func (s *Scanner) Enqueue(x *device.Flight, n int, to device.Counter) error {
	t, local := x.Device.Tuning, scanLocal(x.Device.Tuning)
	tiles := (n + ScanTile(t) - 1) / ScanTile(t)
	if s.Look != nil {
		begin, epoch, err := s.Look.Begin(x, tiles)
		if err != nil {
			return err
		}
		if s.compact {
			err = compactAhead.In(s.Program).Launch(x, compactAheadArguments{in: s.In, flags: s.Flags, out: s.Out, n: n, state: s.Look.State,
				ticket: int(begin), epoch: int(epoch), carry: s.Carry, what: s.what}, tiles, local, to)
		} else {
			err = scanAhead.In(s.Program).Launch(x, scanAheadArguments{in: s.In, out: s.Out, n: n, state: s.Look.State,
				ticket: int(begin), epoch: int(epoch), carry: s.Carry}, tiles, local, to)
		}
		if err != nil {
			s.Look.Reset() // the launch may not have drawn its tickets
		}
		return err
	}
	for first := 0; first < tiles; first += t.ScanChunk {
		groups, carryAt := min(t.ScanChunk, tiles-first), first/t.ScanChunk&1
		err := scanSums.In(s.Program).Launch(x, scanSumsArguments{in: s.In, flags: s.Flags, sums: s.Sums, n: n, first: first, what: s.what}, groups, local, to)
		switch {
		case err != nil:
		case s.compact:
			err = compactTiles.In(s.Program).Launch(x, compactTilesArguments{in: s.In, flags: s.Flags, out: s.Out, sums: s.Sums, n: n, first: first,
				tiles: groups, carry: s.Carry, carryAt: carryAt, what: s.what}, groups, local, to)
		default:
			err = scanTiles.In(s.Program).Launch(x, scanTilesArguments{in: s.In, out: s.Out, sums: s.Sums, n: n, first: first,
				tiles: groups, carry: s.Carry, carryAt: carryAt}, groups, local, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scanLocal is the work-group size of the kernels.
func scanLocal(t device.Tuning) int { return t.Local(t.ScanWG) }
