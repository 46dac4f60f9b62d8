package primitive

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// scanSizes lie around the tiles and chunks of a form.
func scanSizes(t device.Tuning) []int {
	tile, chunk := ScanTile(t), ScanTile(t)*t.ScanChunk
	sizes := []int{0, 1, 2, 3, 4, 5, 127, tile - 1, tile, tile + 1, 3*tile - 2, 33*tile + 5}
	if chunk < 1<<21 {
		sizes = append(sizes, chunk-1, chunk, chunk+1, 2*chunk+1)
	}
	return sizes
}

// TestScan compares with Go, over values whose sums wrap.
func TestScan(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, form := range devicetest.Forms(d) {
		t.Run(name, func(t *testing.T) {
			b := devicetest.OpenRow(t, d, form, false)
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range scanSizes(b.Tuning) {
				in := make([]uint32, n)
				for i := range in {
					in[i] = r.Uint32()
				}
				testScan(t, b, in, 2)
			}
		})
	}
}

func testScan(t *testing.T, b *device.Runtime, in []uint32, runs int) Timing {
	t.Helper()
	out := make([]uint32, len(in))
	timing, err := Scan(t.Context(), b, out, in, runs)
	if err != nil {
		t.Fatalf("%d elements: %v", len(in), err)
	}
	sum := uint32(0)
	for i, x := range in {
		if out[i] != sum {
			t.Fatalf("%d elements: sum of %d elements is %d, want %d", len(in), i, out[i], sum)
		}
		sum += x
	}
	if want := min(len(in), 1) * runs; len(timing.Runs) != want || want > 0 && (timing.Launches < 1 || timing.Runs[0] <= 0) {
		t.Errorf("%d elements, %d runs: %+v", len(in), runs, timing)
	}
	if timing.LookBack != (b.Tuning.LookBack && len(in) > 0) || timing.LookBack && timing.Launches != 1 {
		t.Errorf("the form with look_back = %t: %+v", b.Tuning.LookBack, timing)
	}
	return timing
}

// TestCompact compares with Go: ranges and flags that keep none, some and all.
func TestCompact(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, form := range devicetest.Forms(d) {
		t.Run(name, func(t *testing.T) {
			b := devicetest.OpenRow(t, d, form, true)
			r := rand.New(rand.NewPCG(3, 4))
			for _, n := range scanSizes(b.Tuning) {
				in, flags := make([]uint32, n), make([]uint32, n/32+1)
				for i := range in {
					in[i] = r.Uint32()
				}
				for i := range flags {
					flags[i] = r.Uint32() & r.Uint32()
				}
				for _, keep := range []Keep{
					{Greatest: 1<<32 - 1}, {Least: 1 << 31, Greatest: 1<<32 - 1}, {Least: 5, Greatest: 4}, {Least: 1 << 20, Greatest: 1 << 30},
					{Flags: flags}, {Flags: make([]uint32, n/32+1)},
				} {
					testCompact(t, b, in, keep)
				}
			}
		})
	}
}

func testCompact(t *testing.T, b *device.Runtime, in []uint32, keep Keep) Timing {
	t.Helper()
	want := []uint32{7, 8} // the caller's elements stay
	for i, x := range in {
		kept := keep.Least <= x && x <= keep.Greatest
		if keep.Flags != nil {
			kept = keep.Flags[i/32]>>(i%32)&1 != 0
		}
		if kept {
			want = append(want, x)
		}
	}
	got, timing, err := Compact(t.Context(), b, []uint32{7, 8}, in, keep, 2)
	if err != nil {
		t.Fatalf("%d elements: %v", len(in), err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d elements, range [%d, %d], flags %t: kept %d, want %d, or others", len(in), keep.Least, keep.Greatest,
			keep.Flags != nil, len(got)-2, len(want)-2)
	}
	return timing
}

// TestScanPieces cuts the launches of scans and compactions into pieces of two work-groups.
func TestScanPieces(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, form := range devicetest.Forms(d) {
		t.Run(name, func(t *testing.T) {
			form.ScanChunk = 7
			b := devicetest.OpenRow(t, d, form, false)
			b.FewGroups = 2
			in := make([]uint32, 33*ScanTile(b.Tuning)+5)
			for i := range in {
				in[i] = uint32(i) * 2654435761
			}
			out := make([]uint32, len(in))
			timing, err := Scan(t.Context(), b, out, in, 2)
			if err != nil {
				t.Fatal(err)
			}
			if sum, last := out[len(in)-1], in[len(in)-1]; timing.Launches < 17 || sum+last != sumOf(in) {
				t.Errorf("%+v, the sum is %d", timing, sum+last)
			}
			testCompact(t, b, in, Keep{Least: 1 << 30, Greatest: 1 << 31})
		})
	}
}

func sumOf(all []uint32) (sum uint32) {
	for _, x := range all {
		sum += x
	}
	return sum
}

// TestScanLong goes beyond 2^24 elements, where a float would no longer count.
func TestScanLong(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	if devicetest.Small() {
		t.Skip("takes long: not with -short")
	}
	b := devicetest.OpenRow(t, d, d.Tuning(), true)
	in := make([]uint32, 1<<24+1<<20+7)
	for i := range in {
		in[i] = uint32(i) * 2654435761
	}
	testScan(t, b, in, 1)
	testCompact(t, b, in, Keep{Least: 1 << 31, Greatest: 1<<32 - 1})
}

// TestScanErrors refuses arguments that do not fit together or on the device.
func TestScanErrors(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	b := devicetest.OpenRow(t, d, d.Tuning(), false)
	if _, err := Scan(t.Context(), b, make([]uint32, 3), make([]uint32, 4), 1); err == nil {
		t.Error("3 sums of 4 elements")
	}
	if _, _, err := Compact(t.Context(), b, nil, make([]uint32, 33), Keep{Flags: make([]uint32, 1)}, 1); err == nil {
		t.Error("32 flags for 33 elements")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Scan(ctx, b, make([]uint32, 4), make([]uint32, 4), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("under a cancelled context: %v", err)
	}
	poor := d.With(func(i *plan.Info, _ *device.Tuning) { i.MaxAlloc = 1 << 20 })
	b = devicetest.OpenRow(t, poor, d.Tuning(), false)
	many := make([]uint32, 1<<18)
	if _, err := Scan(t.Context(), b, many, many, 1); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("more than a buffer: %v", err)
	}
	form := d.Tuning()
	form.Serial = false
	poor = d.With(func(i *plan.Info, _ *device.Tuning) { i.LocalMemory = 48 << 10 })
	form.ScanWG = 1024
	b = devicetest.OpenRow(t, poor, form, false)
	if _, err := Scan(t.Context(), b, many, many, 1); !errors.Is(err, plan.ErrNoDevice) {
		t.Errorf("local memory of 48 KiB: %v", err)
	}
}

// TestEpochs lets the epochs of look-back come again, so that stale states of long
// ago would count if the state were not cleared.
func TestEpochs(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	form := devicetest.Forms(d)["local, look-back"]
	b := devicetest.OpenRow(t, d, form, false)
	if !LooksBack(b) {
		t.Fatal("groups make no progress")
	}
	in := make([]uint32, 3*ScanTile(form))
	for i := range in {
		in[i] = 1
	}
	p, err := newCall(t.Context(), b, in, nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	if _, err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.scan.Look.epoch = lastEpoch - 2
	for range 2 {
		if sum, err := p.run(t.Context()); err != nil || sum != uint32(len(in)) {
			t.Fatalf("sum %d, want %d: %v", sum, len(in), err)
		}
	}
	if p.scan.Look.epoch == 0 || p.scan.Look.epoch > 10 {
		t.Errorf("epoch %d after the last one", p.scan.Look.epoch)
	}
}

// TestStaleTiles launches the group of tile 1 alone, which looks at the words of tile 0 that the test writes: it takes
// the sum of words of its own launch, and gives up on words of an earlier one, or of two launches.
func TestStaleTiles(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	b := devicetest.OpenRow(t, d, devicetest.Forms(d)["local, look-back"], false)
	if !LooksBack(b) {
		t.Fatal("groups make no progress")
	}
	p, err := newCall(t.Context(), b, make([]uint32, 2*ScanTile(b.Tuning)), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	const tile, prefix, sum = 1, 2 << 16, 0x50007
	for _, c := range []struct {
		low, high uint32 // epochs of the words
		knows     bool
	}{{3, 3, true}, {2, 2, false}, {3, 2, false}, {2, 3, false}} {
		state := make([]uint32, stateWords+4)
		state[stateWords], state[stateWords+1] = c.low<<18|prefix|sum&0xffff, c.high<<18|prefix|sum>>16
		err := b.Do(func() error {
			e, err := p.Queue.EnqueueWriteBuffer(p.scan.Look.State, true, 0, 4*len(state), unsafe.Pointer(&state[0]), nil)
			if err != nil {
				return err
			}
			e.Release()
			args := scanAheadArguments{in: p.scan.In, out: p.scan.Out, n: p.n, state: p.scan.Look.State, ticket: 1<<32 - tile, epoch: 3, carry: p.scan.Carry}
			return p.timed(func() error { return scanAhead.Launch(&p.Flight, args, 1, scanLocal(b.Tuning), device.CompactTime) })
		})
		if err != nil {
			t.Fatal(err)
		}
		failed, err := p.scan.Look.GaveUp(t.Context(), &p.Flight)
		if err != nil {
			t.Fatal(err)
		}
		if failed == c.knows {
			t.Errorf("words of epochs %d and %d in epoch 3: the group gave up: %t", c.low, c.high, failed)
		}
		out := make([]uint32, p.n)
		if err := p.ReadNow(t.Context(), p.scan.Out, out); err != nil {
			t.Fatal(err)
		}
		if first := out[ScanTile(b.Tuning)]; c.knows && first != sum {
			t.Errorf("tile 1 begins with the sum %d, want %d", first, sum)
		}
	}
}

// BenchmarkScan measures scan and compaction of half by the device's clock.
func BenchmarkScan(b *testing.B) {
	d := devicetest.Find(b, ops)
	sizes := []int{1 << 24, 1 << 26, 1 << 28}
	if devicetest.Small() || d.Info().Type != "gpu" {
		sizes = []int{1 << 20, 1 << 24}
	}
	in := make([]uint32, sizes[len(sizes)-1])
	r := rand.New(rand.NewPCG(5, 6))
	for i := range in {
		in[i] = r.Uint32()
	}
	out := make([]uint32, len(in))
	type shape struct {
		wg       int
		lookBack bool
	}
	shapes := []shape{{256, false}}
	if !d.Tuning().Serial {
		shapes = append(shapes, shape{128, true}, shape{256, true}, shape{512, true})
	}
	for _, shape := range shapes {
		t := d.Tuning()
		t.ScanWG, t.LookBack = shape.wg, shape.lookBack
		backend := devicetest.OpenRow(b, d, t, true)
		for _, n := range sizes {
			for _, name := range []string{"scan", "compact"} {
				b.Run(fmt.Sprintf("%s/n=%d/lookback=%t/wg=%d", name, n, t.LookBack, t.ScanWG), func(b *testing.B) {
					for b.Loop() {
						var timing Timing
						var err error
						if name == "scan" {
							timing, err = Scan(b.Context(), backend, out[:n], in[:n], 20)
						} else {
							_, timing, err = Compact(b.Context(), backend, out[:0], in[:n], Keep{Greatest: 1<<31 - 1}, 20)
						}
						if err != nil {
							b.Fatal(err)
						}
						best := slices.Min(timing.Runs).Seconds()
						b.ReportMetric(float64(n)/best/1e9, "Gelem/s")
						b.ReportMetric(float64(timing.Bytes)/best/1e9, "GB/s")
						b.ReportMetric(best*1e6, "us")
					}
				})
			}
		}
	}
}

// TestLaunchFails scans after a launch that failed and drew no tickets.
func TestLaunchFails(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	b, faults := devicetest.OpenFaulty(t, d, devicetest.Forms(d)["local, look-back"])
	if !LooksBack(b) {
		t.Fatal("groups make no progress")
	}
	in := make([]uint32, 3*ScanTile(b.Tuning))
	p, err := newCall(t.Context(), b, in, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	program := b.ReplaceProgram(scanAhead.KernelID, nil)
	faults.Arm("build", 1, ocl.ErrOutOfHostMemory)
	if _, err := p.run(t.Context()); err == nil {
		t.Fatal("the launch did not fail")
	}
	b.ReplaceProgram(scanAhead.KernelID, program)
	faults.Disarm()
	if p.scan.Look.epoch != 0 {
		t.Fatal("the next launch waits for tickets of the failed one")
	}
	if sum, err := p.run(t.Context()); err != nil || sum != 0 {
		t.Errorf("sum %d, %v", sum, err)
	}
}
