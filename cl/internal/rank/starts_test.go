package rank

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
)

// TestStarts finds where ranges of documents begin in lists, up to the greatest document there can be: the last range ends
// at 2^32. The work-items are one more than fill whole groups.
func TestStarts(t *testing.T) {
	const bits, ranges = 12, 4
	all := [][]uint32{{}, {0}, {4095}, {4096}, {math.MaxUint32}, {0, 4095, 4096, 8191, 8192}, {1<<32 - 8193, 1<<32 - 8192, 1<<32 - 4097, 1<<32 - 4096, math.MaxUint32}}
	for len(all) < 13 {
		all = append(all, []uint32{uint32(len(all)), 5000, 1<<32 - 8192, math.MaxUint32 - 1, math.MaxUint32})
	}
	batch, docs := make([]uint32, 4*(1+listUnits*len(all))), []uint32{}
	for i, list := range all {
		record := batch[4*(1+listUnits*i):]
		record[5], record[6], record[10] = uint32(len(list)), uint32(len(docs)/4), uint32(i*(ranges+1))
		docs = append(docs, list...)
		docs = append(docs, make([]uint32, roundUp(len(docs), 4)-len(docs))...)
	}
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		x := device.NewFlight(rt, rt.Memory)
		defer x.Release()
		buffer := func(words []uint32) *ocl.MemObject {
			m, err := rt.LoadWords(t.Context(), words, "a test")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(m.Release)
			return m
		}
		if err := x.Open(4, 4); err != nil {
			t.Fatal(err)
		}
		if err := x.Prepare(starts.KernelID); err != nil {
			t.Fatal(err)
		}
		for _, first := range []uint32{0, 4096, 1<<32 - 3<<bits, 1<<32 - 1<<bits} {
			got := make([]uint32, len(all)*(ranges+1))
			args := startsArguments{batch: buffer(batch), docs: buffer(docs), out: buffer(got), lists: len(all), firstDoc: int(first), bits: bits, ranges: ranges}
			err := x.Run(t.Context(), "a test", func() error {
				if err := starts.Launch(&x, args, groupsOf(len(got)), eachLocal, device.ScoreTime); err != nil {
					return err
				}
				e, err := x.Queue.EnqueueReadBuffer(args.out, false, 0, 4*len(got), unsafe.Pointer(&got[0]), nil)
				return x.Sent(e, err, device.UploadTime)
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, list := range all {
				for j := range ranges + 1 {
					want := len(list)
					if doc := uint64(first) + uint64(j)<<bits; doc <= math.MaxUint32 {
						want, _ = slices.BinarySearch(list, uint32(doc))
					}
					if n := got[i*(ranges+1)+j]; n != uint32(want) {
						t.Errorf("list %v: range %d from document %d begins at %d, want %d", list, j, first, n, want)
					}
				}
			}
		}
	})
}
