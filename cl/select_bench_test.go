package cl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkSelect measures selections by the device's clock, the best of several:
// one query of many keys, and a thousand of 100 to 30,000, with work-groups of
// several sizes.
func BenchmarkSelect(b *testing.B) {
	d := testDevice(b)
	rows := map[string]Tuning{"row": d.Tuning()}
	for _, wg := range []int{128, 256, 512, 1024} {
		t := d.Tuning()
		t.SelectWG = wg
		if !t.Serial {
			rows[fmt.Sprintf("wg=%d", wg)] = t
		}
	}
	for _, c := range []struct {
		queries, least, most int // keys of a query
		equal                bool
	}{{1, 1000, 1000, false}, {1, 10_000, 10_000, false}, {1, 100_000, 100_000, false}, {1, 1_000_000, 1_000_000, false},
		{1, 3_000_000, 3_000_000, false}, {1, 1_000_000, 1_000_000, true}, {1000, 100, 30_000, false}} {
		r := rand.New(rand.NewPCG(1, 2))
		keys, counts := make([][]uint64, c.queries), make([]uint32, c.queries)
		for q := range keys {
			keys[q] = make([]uint64, c.least+r.IntN(c.most-c.least+1))
			counts[q] = uint32(len(keys[q]))
			for i := range keys[q] {
				score := uint32(1)
				if !c.equal {
					score += uint32(r.Float64() * r.Float64() * (1 << 31))
				}
				keys[q][i] = keyOf(score, uint32(i))
			}
		}
		for name, t := range rows {
			for _, k := range []int{10, 1000} {
				kind := map[bool]string{true: "equal", false: "spread"}[c.equal]
				b.Run(fmt.Sprintf("queries=%d/keys=%d/%s/k=%d/%s", c.queries, c.most, kind, k, name), func(b *testing.B) {
					backend := openForm(b, d, t, true)
					s := newSelection(b, backend, c.queries, (c.most+1)/2*2, k)
					var runs []time.Duration
					for b.Loop() {
						b.StopTimer()
						s.send(b, keys, counts)
						b.StartTimer()
						runs = append(runs, s.cut(b, k, s.best))
					}
					b.ReportMetric(float64(slices.Min(runs).Nanoseconds())/1e3, "us")
					if got := s.keysAt(b, s.best, 0, min(k, len(keys[0]))); got[0] == 0 {
						b.Error("a key of 0 among the best")
					}
				})
			}
		}
	}
}
