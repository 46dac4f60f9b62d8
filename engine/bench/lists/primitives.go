package lists

import (
	"context"
	"fmt"
	"math"
	"time"

	"heddle/cl"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// cub is the speed of CUDA's cub on an H200, in G elements/s.
var cub = map[string]float64{"scan": 390, "compaction at 50 %": 454}

// primitivesExhibit measures scan and compaction on a device.
func (s *bench) primitivesExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "primitives", Title: "Scan and compaction on a device",
		Says: "DeviceScan and DeviceSelect of CUDA's cub on an H200: the column of the paper.",
		Ours: "Words in device memory, by the device's clock. Of peak: each word read once, the remaining words written once.",
		Rows: "elements",
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				if who.Name == "host" {
					continue
				}
				if err := s.primitives(ctx, who); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// primitives measures one device.
func (s *bench) primitives(ctx context.Context, who harness.Contestant) error {
	b, err := s.Backend(ctx, who, harness.Profiled)
	if err != nil {
		return err
	}
	peak, err := b.CopyPeak(ctx)
	if err != nil {
		return err
	}
	sizes := harness.Pick(&s.Opt, []int{1 << 20, 1 << 24, 1 << 28}, []int{1 << 16, 1 << 20})
	if who.Info.Type != "gpu" {
		sizes = harness.Pick(&s.Opt, []int{1 << 20, 1 << 24}, []int{1 << 16, 1 << 20})
	}
	for _, n := range sizes {
		if err := s.primitivesOf(ctx, who, b, peak, n); err != nil {
			return err
		}
	}
	return nil
}

// primitivesOf measures scan and compaction of n words and checks their results.
func (s *bench) primitivesOf(ctx context.Context, who harness.Contestant, b *cl.Backend, peak float64, n int) error {
	in := make([]uint32, n)
	r := workload.NewRandom(s.Opt.Seed, workload.StreamGaps, uint64(n))
	for i := range in {
		in[i] = uint32(r.Uint64())
	}
	runs := 4 * s.Opt.Runs
	sums := make([]uint32, n)
	scan, err := b.Scan(ctx, sums, in, runs)
	if err != nil {
		return err
	}
	keep := cl.Keep{Least: 0, Greatest: math.MaxInt32} // keeps half of the words
	kept, compact, err := b.Compact(ctx, nil, in, keep, runs)
	if err != nil {
		return err
	}
	var sum uint32
	rest := kept
	for i, v := range in {
		if sums[i] != sum {
			return fmt.Errorf("scan gives %d for element %d, want %d", sums[i], i, sum)
		}
		if sum += v; v > keep.Greatest {
			continue
		}
		if len(rest) == 0 || rest[0] != v {
			return fmt.Errorf("compaction loses element %d", i)
		}
		rest = rest[1:]
	}
	for _, m := range []struct {
		name   string
		timing cl.Timing
	}{{"scan", scan}, {"compaction at 50 %", compact}} {
		v := inverse(m.timing.Runs, n)
		row := measure.Row{Metric: m.name, Unit: "G elements/s", Bytes: m.timing.Bytes}
		if peak > 0 {
			row.PeakFraction = v.Median * 1e9 / float64(n) * float64(m.timing.Bytes) / peak
		}
		paper := 0.0
		if n == 1<<28 {
			paper = cub[m.name]
		}
		s.Put(who.On(harness.Reading{Panel: who.String(), Series: m.name, At: measure.Binary(float64(n)), Paper: paper, Row: v.Into(row)}))
	}
	return nil
}

// inverse converts times for n elements to G elements per second.
func inverse(times []time.Duration, n int) measure.Summary {
	var seconds []float64
	for _, t := range times {
		seconds = append(seconds, t.Seconds())
	}
	return measure.Summarize(seconds).Rate(n)
}
