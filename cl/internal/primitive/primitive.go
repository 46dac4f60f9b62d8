package primitive

import (
	"context"
	"fmt"
	"time"

	"heddle/cl/internal/device"
)

// Timing is the cost of repeated runs of a primitive on a device.
type Timing struct {
	// Runs holds the times from the start of a run's first kernel to the end of its last
	// one, by the device's clock if the backend profiles, else by the host's.
	Runs     []time.Duration
	Launches int    // launches of a run
	Bytes    uint64 // that a run reads and writes at least
	LookBack bool   // kernels with look-back read each element once
}

// Keep selects elements for Compact. With Flags, bit i%32 of word i/32 keeps element i.
// Without Flags, the elements from Least to Greatest are kept.
type Keep struct {
	Flags           []uint32
	Least, Greatest uint32
}

// Scan writes the exclusive prefix sums of in, modulo 2^32, to out, which has the same
// length. It copies in to the device, runs the kernels the given number of times, at least
// once, and copies the last result back. It is safe for concurrent use. Errors come from
// the context or are *plan.DeviceError.
func Scan(ctx context.Context, rt *device.Runtime, out, in []uint32, runs int) (Timing, error) {
	if len(out) != len(in) {
		return Timing{}, fmt.Errorf("cl: %d sums of %d elements", len(out), len(in))
	}
	p, err := newCall(ctx, rt, in, nil, runs)
	if err != nil || p == nil {
		return Timing{}, err
	}
	defer p.end(ctx)
	if _, err = p.run(ctx); err != nil {
		return Timing{}, err
	}
	p.timing.Bytes = 8 * uint64(len(in))
	return p.timing, p.ReadNow(ctx, p.scan.Out, out)
}

// Compact appends the elements of in that keep selects to out, in their order. Otherwise it
// is like scan.
func Compact(ctx context.Context, b *device.Runtime, out, in []uint32, keep Keep, runs int) ([]uint32, Timing, error) {
	what := [4]uint32{1, keep.Least, keep.Greatest - keep.Least, 0} // ADD_RANGE
	if keep.Flags != nil {
		what = [4]uint32{2, 0, 0, 0} // ADD_FLAGS
		if 32*uint64(len(keep.Flags)) < uint64(len(in)) {
			return out, Timing{}, fmt.Errorf("cl: %d flags for %d elements", 32*len(keep.Flags), len(in))
		}
	} else if keep.Least > keep.Greatest {
		return out, Timing{}, nil
	}
	p, err := newCall(ctx, b, in, keep.Flags, runs)
	if err != nil || p == nil {
		return out, Timing{}, err
	}
	defer p.end(ctx)
	p.scan.compact, p.scan.what = true, what
	kept, err := p.run(ctx)
	if err != nil {
		return out, Timing{}, err
	}
	if uint64(kept) > uint64(len(in)) {
		return out, Timing{}, b.Fail("compacting", fmt.Errorf("%d of %d elements kept", kept, len(in)))
	}
	p.timing.Bytes = 4*(uint64(len(in))+uint64(kept)) + uint64(len(keep.Flags))*4
	from := len(out)
	out = append(out, make([]uint32, kept)...)
	return out, p.timing, p.ReadNow(ctx, p.scan.Out, out[from:])
}

// CheckScan refuses devices that the kernels of scan.cl do not fit.
func CheckScan(b *device.Runtime) error {
	t, i := b.Tuning, &b.Info
	local := uint64(80*t.ScanWG + 256) // what compact needs without shuffles
	var why string
	switch {
	case t.Serial:
	case b.MaxWorkGroup() < t.ScanWG:
		why = fmt.Sprintf("work-groups hold %d work-items, scans need %d", b.MaxWorkGroup(), t.ScanWG)
	case i.LocalMemory < local:
		why = fmt.Sprintf("there are %d bytes of local memory, scans need %d", i.LocalMemory, local)
	}
	if why == "" {
		return nil
	}
	return b.Unfit(why)
}

// ScanTile is the number of elements of a group, SCAN_TILE in kernels/scan.cl.
func ScanTile(t device.Tuning) int { return 16 * t.ScanWG }

// Operation registers the kernels of scan and compact.
var Operation = device.Operation{
	Name: "primitive",
	Programs: []device.Program{{Kernels: []device.Function{scanSums, scanTiles, scanAhead, compactTiles, compactAhead, progress},
		Files: device.Files("group.cl", "scan.cl")}},
	Check: func(t device.Tuning) error {
		switch {
		case t.ScanWG < 32 || t.ScanWG > 1024 || t.ScanWG%32 != 0:
			return fmt.Errorf("scan_wg is %d, not a multiple of 32 up to 1024", t.ScanWG)
		case t.ScanChunk < 1 || t.ScanChunk > 1<<20:
			return fmt.Errorf("scan_chunk is %d, not 1 to 2^20", t.ScanChunk)
		}
		return nil
	},
	Defines: func(t device.Tuning, define func(string, int)) { define("SCAN_WG", t.ScanWG) },
}
