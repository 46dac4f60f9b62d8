package rank

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
)

// BenchmarkSelect measures selections, the best of several: one query of many keys, and
// a thousand of 100 to 30,000. Rows named "clock" use the device's clock, rows named "wall"
// the host's, from the first launch to the end, without the cost of profiling.
func BenchmarkSelect(b *testing.B) {
	d := devicetest.Find(b, ops)
	rows := map[string]device.Tuning{"row": d.Tuning()}
	for _, c := range [][2]int{{512, 16384}, {512, 131072}, {1024, 65536}, {1024, 131072}} {
		t := d.Tuning()
		t.SelectWG, t.SelectWide = c[0], c[1]
		if !t.Serial {
			rows[fmt.Sprintf("%d,%d", c[0], c[1])] = t
		}
	}
	loads := []selectLoad{{"one of 1000", 1, 1000, false}, {"one of 10000", 1, 10_000, false}, {"one of 50000", 1, 50_000, false},
		{"one of 100000", 1, 100_000, false},
		{"one of 1000000", 1, 1_000_000, false}, {"one of 3000000", 1, 3_000_000, false},
		{"one of 1000000 equal", 1, 1_000_000, true}, {"1000 of 100 to 30000", 1000, 30_000, false}}
	for name, t := range rows {
		clock, wall := devicetest.OpenRow(b, d, t, true), devicetest.OpenRow(b, d, t, false)
		for i := range 4 * len(loads) {
			load, k, kind, backend := loads[i/4], []int{10, 1000}[i/2%2], "clock", clock
			if i%2 == 1 {
				kind, backend = "wall", wall
			}
			b.Run(fmt.Sprintf("%s/k=%d/%s/%s", load.name, k, name, kind), func(b *testing.B) {
				s := newSelection(b, backend, load.queries, load.most, k)
				s.send(b, load.keys(), load.counts())
				back := s.keep(b)
				var runs []time.Duration
				for b.Loop() {
					back()
					runs = append(runs, s.cut(b, k, s.best))
				}
				b.ReportMetric(float64(slices.Min(runs).Nanoseconds())/1e3, "us")
			})
		}
	}
}

// selectLoad is some queries of at most so many keys, one of just as many, more of
// 100 to as many.
type selectLoad struct {
	name          string
	queries, most int
	equal         bool // scores
}

func (l selectLoad) counts() []uint32 {
	counts := make([]uint32, l.queries)
	for q := range counts {
		counts[q] = uint32(l.most)
		if l.queries > 1 {
			counts[q] = 100 + uint32(q*7919%(l.most-100))
		}
	}
	return counts
}

func (l selectLoad) keys() [][]uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([][]uint64, l.queries)
	for q, n := range l.counts() {
		keys[q] = make([]uint64, n)
		for i := range keys[q] {
			score := uint32(1)
			if !l.equal {
				score += uint32(r.Float64() * r.Float64() * (1 << 31))
			}
			keys[q][i] = keyOf(score, uint32(i))
		}
	}
	return keys
}

// keep copies keys and state, and returns a function that copies them back.
func (s *selection) keep(b *testing.B) (back func()) {
	backend := s.flight.Device
	var copies [2]*ocl.MemObject
	buffers, sizes := [2]*ocl.MemObject{s.keys, s.state}, [2]int{8 * s.queries * s.capacity, 4 * selectState * s.queries}
	transfer := func(from, to [2]*ocl.MemObject) {
		err := backend.Do(func() error {
			for i := range from {
				e, err := s.flight.Queue.EnqueueCopyBuffer(from[i], to[i], 0, 0, sizes[i], nil)
				if err != nil {
					return err
				}
				e.Release()
			}
			return s.flight.Queue.Finish()
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for i, size := range sizes {
		var err error
		if copies[i], err = backend.Buffer(ocl.MemReadWrite, uint64(size), "a copy"); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { copies[i].Release() })
	}
	transfer(buffers, copies)
	return func() { transfer(copies, buffers) }
}
