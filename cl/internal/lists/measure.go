package lists

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/codec"
	"heddle/engine/plan"
)

// Decode copies the lists of src, which share a codec with a decoder, to the device and decodes
// all of them in one launch, the given number of times, at least once. It returns the docIDs of
// each list, and the duration of each launch if the device profiles. With gaps, which only gap
// codecs have, the kernels leave out the prefix sum: in place of a docID they write its
// distance from the docID before it, less one. It is safe for concurrent use. Errors come from
// the context or are *plan.DeviceError.
func Decode(ctx context.Context, rt *device.Runtime, src *plan.Source, gaps bool, runs int) (decoded [][]uint32, times []time.Duration, err error) {
	if err := Supported(src); err != nil || len(src.Lists) == 0 {
		return nil, nil, err
	}
	id := src.Lists[0].Codec
	decoder, with := DecoderOf(id), device.Features(0)
	if decoder == NoDecoder || gaps && Lookup(id)&UseGaps == 0 {
		return nil, nil, fmt.Errorf("cl: no kernel decodes lists of codec %v to %s: %w", id, map[bool]string{false: "docIDs", true: "gaps"}[gaps], plan.ErrUnsupported)
	}
	if gaps {
		with = writeGaps
	}
	ranges, places, err := Layout(src, rt.Info.MaxAlloc, MaxArenas)
	if err != nil {
		return nil, nil, rt.OutOfMemory("laying out lists", err)
	}
	arena, err := LoadArena(ctx, rt, src, ranges)
	if err != nil {
		return nil, nil, err
	}
	free := arena.Release
	defer func() { device.Free(ctx, rt, free) }()

	records, starts := decodeRecords(src, places)
	words := starts[len(src.Lists)]
	decoded = make([][]uint32, len(src.Lists))
	if words == 0 {
		return decoded, nil, nil
	}
	x, err := device.Detached(ctx, rt, func() (*measurement, error) { return newMeasurement(rt, len(records), words) }, (*measurement).release)
	if err != nil {
		return nil, nil, err
	}
	free = func() {
		x.release()
		arena.Release()
	}
	x.kernel, x.lists = Decoders[decoder].For(with), arena.Buffers
	x.groups, x.local = decodeShape(rt.Tuning, decoder, len(records)/RunWords)
	copy(x.Up.Words, records)
	if times, err = x.run(ctx, len(records), words, max(runs, 1)); err != nil {
		return nil, nil, err
	}
	for h, l := range src.Lists {
		decoded[h] = slices.Clone(x.Down.Words[starts[h]:][:l.Len])
	}
	return decoded, times, nil
}

// measurement runs a decoder over all runs of some lists.
type measurement struct {
	device.Flight
	kernel        device.Kernel[DecodeArguments]
	groups, local int
	lists         [MaxArenas]*ocl.MemObject
	scratch       device.ScratchMemory
	batch, out    device.Scratch
}

// newMeasurement makes the memory for some words of records and of docIDs.
func newMeasurement(rt *device.Runtime, records, words int) (*measurement, error) {
	x := &measurement{Flight: device.NewFlight(rt, rt.Memory), scratch: device.NewScratchMemory(rt, rt.Memory, new(atomic.Uint64), "decoding lists")}
	err := cmp.Or(x.scratch.Room(&x.batch, records, 0, "runs"), x.scratch.Room(&x.out, words, 0, "docIDs"))
	if err == nil {
		err = x.Open(records, words)
	}
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

func (x *measurement) release() {
	if x.Queue != nil {
		x.Land()
	}
	x.Release()
	x.scratch.Drop(&x.batch)
	x.scratch.Drop(&x.out)
}

// run uploads the records, launches the decoder a number of times and downloads the words of the
// last launch.
func (x *measurement) run(ctx context.Context, records, words, runs int) (times []time.Duration, err error) {
	if err := x.Prepare(x.kernel.KernelID); err != nil {
		return nil, err
	}
	enqueue := func(f func() error) error { return x.Run(ctx, "decoding lists", f) }
	if err := enqueue(func() error { return cmp.Or(x.Write(x.batch.Buffer, records), x.Queue.Flush()) }); err != nil {
		return nil, err
	}
	for range runs {
		x.ReleaseEvents()
		if err := enqueue(x.launch); err != nil {
			return nil, err
		}
		var stats plan.Stats
		if err := x.AddTimes(&stats); err != nil {
			return nil, err
		}
		if x.Device.Profiling {
			times = append(times, stats.Decode)
		}
	}
	return times, enqueue(func() error { return x.Read(x.out.Buffer, words) })
}

// launch enqueues the decoder. It runs in Runtime.Do.
func (x *measurement) launch() error {
	args := DecodeArguments{A: x.lists, Runs: x.batch.Buffer, Out: x.out.Buffer}
	return cmp.Or(x.kernel.Launch(&x.Flight, args, x.groups, x.local, device.DecodeTime), x.Queue.Flush())
}

// decodeRecords returns the records of the runs of all lists, and the word of the output where
// each list begins, with the number of words at the end.
func decodeRecords(src *plan.Source, places []Place) (records []uint32, starts []int) {
	at := 0
	for h, l := range src.Lists {
		starts = append(starts, at)
		for first := uint32(0); first < l.Len; first += RunLen {
			n := min(l.Len-first, RunLen)
			records = append(records, places[h].Off, l.Len, l.Words, uint32(l.Codec)|places[h].Buffer<<8, first, n, uint32(at)/4, 0)
			at += int(n+codec.SegmentLen-1) / codec.SegmentLen * codec.SegmentLen
		}
	}
	return records, append(starts, at)
}
