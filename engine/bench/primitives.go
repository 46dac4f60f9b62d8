package bench

import (
	"context"
	"fmt"
	"math"
	"time"

	"heddle/cl"
)

// cub is what CUDA's cub reaches on an H200, in G elements/s.
var cub = map[string]float64{"scan": 390, "compaction at 50 %": 454}

// primitivesExhibit is scan and compaction on a device.
func primitivesExhibit() exhibit {
	return exhibit{
		name: "primitives", title: "Scan and compaction on a device",
		says: "DeviceScan and DeviceSelect of CUDA's cub on an H200: the column of the paper.",
		ours: "Words in device memory, by the device's clock. Of peak: each word read once, what remains written once.",
		rows: "elements",
		run: func(ctx context.Context, s *session) error {
			for _, who := range s.contestants {
				if who.name == "host" {
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

// primitives measures those of one device.
func (s *session) primitives(ctx context.Context, who contestant) error {
	b, err := s.backend(ctx, who, profiled)
	if err != nil {
		return err
	}
	peak, err := b.CopyPeak(ctx)
	if err != nil {
		return err
	}
	sizes := pick(&s.opt, []int{1 << 20, 1 << 24, 1 << 28}, []int{1 << 16, 1 << 20})
	if who.info.Type != "gpu" {
		sizes = pick(&s.opt, []int{1 << 20, 1 << 24}, []int{1 << 16, 1 << 20})
	}
	for _, n := range sizes {
		if err := s.primitivesOf(ctx, who, b, peak, n); err != nil {
			return err
		}
	}
	return nil
}

// primitivesOf measures scan and compaction of n words and checks their results.
func (s *session) primitivesOf(ctx context.Context, who contestant, b *cl.Backend, peak float64, n int) error {
	in := make([]uint32, n)
	r := newRandom(s.opt.Seed, streamGaps, uint64(n))
	for i := range in {
		in[i] = uint32(r.pcg.Uint64())
	}
	runs := 4 * s.opt.Runs
	sums := make([]uint32, n)
	scan, err := b.Scan(ctx, sums, in, runs)
	if err != nil {
		return err
	}
	keep := cl.Keep{Least: 0, Greatest: math.MaxInt32} // half of the words
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
		row := Row{Metric: m.name, Unit: "G elements/s", Bytes: m.timing.Bytes}
		if peak > 0 {
			row.PeakFraction = v.Median * 1e9 / float64(n) * float64(m.timing.Bytes) / peak
		}
		paper := 0.0
		if n == 1<<28 {
			paper = cub[m.name]
		}
		if err := s.put(who.on(reading{panel: who.String(), series: m.name, at: binarily(float64(n)), paper: paper, Row: v.into(row)})); err != nil {
			return err
		}
	}
	return nil
}

// inverse turns times for n elements into G elements a second.
func inverse(times []time.Duration, n int) summary {
	var seconds []float64
	for _, t := range times {
		seconds = append(seconds, t.Seconds())
	}
	return summarize(seconds).rate(n)
}
