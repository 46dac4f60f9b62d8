package load

import (
	"context"
	"math"
	"testing"
	"time"

	"heddle/engine/bench/benchtest"
	"heddle/engine/plan/testneeds"
)

// TestStairs: the rate comes out near the capacity of a server, wherever the stairs begin.
func TestStairs(t *testing.T) {
	for _, from := range []float64{100, 900, 5000} {
		testneeds.Bubble(t, func(t *testing.T) {
			c := Climb{Length: 2 * time.Second, Deadline: 500 * time.Millisecond, Seed: 1, wait: benchtest.SleepUntil}
			s := NewStairs(from)
			for turn := range 20 {
				d, err := c.Loop(s.Rate(), turn).Run(t.Context(), station(1, func(int) time.Duration { return time.Millisecond }))
				if err != nil {
					t.Fatal(err)
				}
				s.Add(d)
			}
			if of, ok := s.Sustained(); !ok || of.Median < 900 || of.Median > 1100 || of.Max/of.Min > 1.5 || s.Limited() > 0 {
				t.Errorf("from %.0f: %+v, %t, %.2f of the failed loads by the sender", from, of, ok, s.Limited())
			}
		})
	}
}

// TestStairsChance: where loads hold by chance, half of them hold at the rate that comes out.
func TestStairsChance(t *testing.T) {
	r := uint64(1)
	sum := 0.0
	const searches = 100
	for range searches {
		s := NewStairs(3000)
		for range 14 {
			rate := s.Rate()
			r = r*6364136223846793005 + 1442695040888963407
			d := &Delays{Loop: Loop{Rate: rate, Queries: 100}, sent: 100}
			if held := float64(r>>40)/(1<<24) < 1/(1+math.Pow(rate/1000, 20)); !held { // half at 1,000
				d.late = 100
			}
			s.Add(d)
		}
		of, _ := s.Sustained()
		sum += math.Log(of.Median / 1000)
	}
	if mean := math.Exp(sum / searches); math.Abs(mean-1) > 0.02 {
		t.Errorf("%.3f of the rate at which half of the loads hold", mean)
	}
}

// TestLimited: a load tells a late sender from a late system.
func TestLimited(t *testing.T) {
	for _, sender := range []bool{false, true} {
		testneeds.Bubble(t, func(t *testing.T) {
			l := Loop{Rate: 1000, Queries: 1000, Seed: 1, Deadline: 20 * time.Millisecond, Misses: 1000, Wait: benchtest.SleepUntil}
			pause := func() { time.Sleep(30 * time.Millisecond) }
			if sender {
				l.Wait = func(at time.Time) { benchtest.SleepUntil(at); pause() }
			}
			d, err := l.Run(t.Context(), func(context.Context, int) error {
				if !sender {
					pause()
				}
				return nil
			})
			if err != nil || d.Held(Mostly) || d.Limited() != sender {
				t.Errorf("late sender %t: %v, sent %v late, %v", sender, d, d.Late, err)
			}
			s := NewStairs(1000)
			if s.Add(d); (s.Limited() == 1) != sender {
				t.Errorf("late sender %t: %v of the failed loads by the sender", sender, s.Limited())
			}
		})
	}
}
