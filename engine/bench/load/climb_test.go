package load

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"heddle/engine/bench/benchtest"
	"heddle/engine/plan/testneeds"
)

// TestClimb: the measured rate is just below the capacity of the servers, whether the
// first rate is below or above it.
func TestClimb(t *testing.T) {
	for _, test := range []struct {
		servers  int
		from     float64
		deadline time.Duration
		want     float64 // as a fraction of 1,000 queries per second and server
	}{
		{1, 50, 500 * time.Millisecond, 0.97},
		{1, 3000, 500 * time.Millisecond, 0.97},
		{2, 200, 500 * time.Millisecond, 0.97},
		{1, 50, 10 * time.Millisecond, 0.65}, // P(wait > 9 ms) is e^-9θ, where ρ(e^θ-1) = θ: one in 1,300 at 0.65
	} {
		testneeds.Bubble(t, func(t *testing.T) {
			loads := 0
			c := Climb{From: test.from, Factor: 2, Halvings: 3, Downs: 3, Length: 2 * time.Second, Deadline: test.deadline, Seed: 1, wait: benchtest.SleepUntil,
				Report: func(*Delays) { loads++ }}
			held, err := c.Run(t.Context(), station(test.servers, func(int) time.Duration { return time.Millisecond }))
			if err != nil {
				t.Fatal(err)
			}
			highest := held[len(held)-1].Rate
			if got := highest / 1000 / float64(test.servers); math.Abs(got-test.want) > 0.1 || loads > 24 {
				t.Errorf("%+v: sustains %.3f of what there is, want %.2f; %d loads", test, got, test.want, loads)
			}
			for i, d := range held {
				if i > 0 && d.Rate <= held[i-1].Rate || d.missed() > d.Queries/1000 {
					t.Errorf("%+v: load %d of %d: %v", test, i, len(held), d)
				}
			}
		})
	}
}

// TestClimbFails: a system that is always late sustains no rate, an error ends the
// search, and an occasional late query does not count.
func TestClimbFails(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		c := Climb{From: 100, Factor: 4, Halvings: 2, Downs: 3, Length: time.Second, Deadline: 5 * time.Millisecond, Seed: 1, wait: benchtest.SleepUntil}
		held, err := c.Run(t.Context(), func(context.Context, int) error { time.Sleep(6 * time.Millisecond); return nil })
		if err != nil || len(held) != 0 {
			t.Errorf("%v, %v", held, err)
		}
		quick := station(1, func(int) time.Duration { return 20 * time.Microsecond })
		c.From, c.Length = 10_000, 100*time.Millisecond
		if held, err := c.Run(t.Context(), func(ctx context.Context, i int) error {
			if i == 2500 { // only at more than 25,000 queries per second
				time.Sleep(6 * time.Millisecond)
			}
			return quick(ctx, i)
		}); err != nil || held[len(held)-1].Rate < 40_000 {
			t.Errorf("%v, %v", held, err)
		}
		wrong := errors.New("a wrong answer")
		if _, err := c.Run(t.Context(), func(context.Context, int) error { return wrong }); !errors.Is(err, wrong) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Run(ctx, func(context.Context, int) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
