package lists

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
)

// benchDefines are the defines in HEDDLE_BENCH_DEFINES ("RUN=4096 RICE_BITS=8"), as
// a text in front of the kernels, to compare variants; run is the length of a run.
func benchDefines(b *testing.B) (text string, run uint32) {
	run = RunLen
	for _, define := range strings.Fields(os.Getenv("HEDDLE_BENCH_DEFINES")) {
		name, value, _ := strings.Cut(define, "=")
		text += fmt.Sprintf("#define %s %s\n", name, value)
		if name == "RUN" {
			n, err := strconv.Atoi(value)
			if err != nil {
				b.Fatal(err)
			}
			run = uint32(n)
		}
	}
	return text, run
}

// eightBits returns n docIDs that a codec stores in 8 bits each: gaps, or distances
// from a line.
func eightBits(r *rand.Rand, id codec.ID, n int) []uint32 {
	docs := make([]uint32, n)
	at := uint32(0)
	for i := range docs {
		switch {
		case id >= codec.LRC:
			docs[i] = uint32(i)*200 + r.Uint32N(200)
		case id == codec.Bitset:
			at += 1 + r.Uint32N(4)
			docs[i] = at
		default:
			at += 129 + r.Uint32N(128)
			docs[i] = at
		}
	}
	return docs
}

// BenchmarkDecoders measures every decoder alone, by the device's clock: 2^26
// values in lists of 2^24, and 10^8 values in 100,000 lists of 1,000, in one launch
// each. The result is compared with pure Go once.
func BenchmarkDecoders(b *testing.B) {
	text, run := benchDefines(b)
	for _, id := range decodedCodecs {
		for _, size := range []struct {
			name     string
			lists, n int
		}{{"long", 4, 1 << 24}, {"short", 100_000, 1000}} {
			if devicetest.Small() {
				size.lists, size.n = max(size.lists/100, 1), min(size.n, 1<<16)
			}
			r := rand.New(rand.NewPCG(1, uint64(id)))
			src := &plan.Source{Docs: 1<<32 - 1}
			var runs [][3]uint32
			var docs []uint32
			for range size.lists {
				docs = eightBits(r, id, size.n)
				h, err := src.Append(id, docs, codec.DefaultOptions())
				if err != nil {
					b.Fatal(err)
				}
				runs = wholeRuns(runs, h, uint32(size.n), run)
			}
			for shape, t := range devicetest.Shapes(devicetest.Find(b, ops)) {
				b.Run(fmt.Sprintf("%s/%s/%s", id, size.name, shape), func(b *testing.B) {
					x := prepare(b, devicetest.OpenRow(b, devicetest.Find(b, ops), t, true), src, runs, text)
					defer x.release()
					if d := DecoderOf(id); !t.Serial && d < firstGap {
						x.local = int(run / 16)
					} else if !t.Serial {
						x.groups = len(runs) * int(run/16) / x.local
					}
					x.launch(b).Release()
					if got := slices.Concat(x.read(b, runs)...); !slices.Equal(got[len(got)-size.n:], docs) {
						b.Fatal("the last list is not what was encoded")
					}
					var took time.Duration
					for b.Loop() {
						took += kernelTime(b, x.launch(b))
					}
					values := float64(size.lists) * float64(size.n)
					second := took.Seconds() / float64(b.N)
					b.ReportMetric(values/second/1e9, "Gints/s")
					b.ReportMetric(4*(values+float64(len(src.Words)))/second/1e9, "GB/s")
					b.ReportMetric(32*float64(len(src.Words))/values, "bits/int")
				})
			}
		}
	}
}

// kernelTime waits for a kernel, gives the time that it took on the device and
// releases the event.
func kernelTime(b *testing.B, e *ocl.Event) time.Duration {
	defer e.Release()
	if err := ocl.WaitForEvents([]*ocl.Event{e}); err != nil {
		b.Fatal(err)
	}
	from, err1 := e.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
	to, err2 := e.GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	return time.Duration(to - from)
}
