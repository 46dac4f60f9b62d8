package schedule

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// Like devices share a call: their times vary by a fifth, they end together, and few of their blocks
// are small.
func TestCallOnLikeDevices(t *testing.T) {
	for _, devices := range []int{2, 4} {
		testneeds.Bubble(t, func(t *testing.T) {
			const n, each = 400_000, 10 * us
			var blocks, small atomic.Int32
			var all []Processor
			for d := range devices {
				p := fake(0, string(rune('a'+d)), 16)
				p.Estimate = func(*Job) (alone, added time.Duration, ok bool) { return ms, each, true }
				p.Threshold = func(any) uint64 { return 2000 } // queries of a block
				random := rand.New(rand.NewPCG(1, uint64(d)))
				device := make(chan struct{}, 1) // a device runs one block at a time
				p.Run = func(_ context.Context, b *Batch) error {
					device <- struct{}{}
					defer func() { <-device }()
					queries := len(queries(b.Jobs[0]))
					if blocks.Add(1); queries < minBlock {
						small.Add(1)
					}
					time.Sleep(100*us + time.Duration(float64(queries)*float64(each)*(0.8+0.4*random.Float64())))
					b.Claim(0)
					return nil
				}
				all = append(all, p)
			}
			s := start(t, Options{}, all...)
			m := &running{learnt: make([]time.Duration, devices)}
			for i := range m.learnt {
				m.learnt[i] = each
			}
			began := time.Now()
			if err := s.DoAll(context.Background(), &series{m: m, n: n}, "", time.Time{}); err != nil {
				t.Fatal(err)
			}
			took, best := time.Since(began), n*each/time.Duration(devices)
			t.Logf("%d devices: %v, %v at best, %d blocks, %d small", devices, took, best, blocks.Load(), small.Load())
			if took > best*11/10 || 10*small.Load() > blocks.Load() {
				t.Errorf("%d devices: %v, %v at best, %d of %d blocks are small", devices, took, best, small.Load(), blocks.Load())
			}
		})
	}
}
