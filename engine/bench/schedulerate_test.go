package bench

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// TestClimb: the rate that servers sustain is just below what they can do, whether the
// first rate is below or above it.
func TestClimb(t *testing.T) {
	for _, test := range []struct {
		servers  int
		from     float64
		deadline time.Duration
		want     float64 // of 1,000 queries a second and server
	}{
		{1, 50, 500 * time.Millisecond, 0.97},
		{1, 3000, 500 * time.Millisecond, 0.97},
		{2, 200, 500 * time.Millisecond, 0.97},
		{1, 50, 10 * time.Millisecond, 0.65}, // more than 9 ms wait e^-9θ, where ρ(e^θ-1) = θ: at 0.65 one in 1,300
	} {
		synctest.Test(t, func(t *testing.T) {
			loads := 0
			c := climb{from: test.from, factor: 2, halvings: 3, downs: 3, length: 2 * time.Second, deadline: test.deadline, seed: 1, wait: sleepUntil,
				report: func(*delays) { loads++ }}
			v, err := c.run(t.Context(), server(test.servers, func(int) time.Duration { return time.Millisecond }))
			if err != nil {
				t.Fatal(err)
			}
			if got := v.mostly / 1000 / float64(test.servers); math.Abs(got-test.want) > 0.1 || loads > 24 {
				t.Errorf("%+v: sustains %.3f of what there is, want %.2f; %d loads", test, got, test.want, loads)
			}
			if v.sustained > v.mostly || v.sustained < 0.8*v.mostly {
				t.Errorf("%+v: sustains %v, mostly %v", test, v.sustained, v.mostly)
			}
			for i, d := range v.held {
				if i > 0 && d.rate <= v.held[i-1].rate || d.missed() > d.queries/1000 || d.rate > v.mostly {
					t.Errorf("%+v: load %d of %d: %v", test, i, len(v.held), d)
				}
			}
		})
	}
}

// TestClimbFails: nothing is sustained by what is always late, and an error is one. Now and
// then a late one is mostly none.
func TestClimbFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := climb{from: 100, factor: 4, halvings: 2, downs: 3, length: time.Second, deadline: 5 * time.Millisecond, seed: 1, wait: sleepUntil}
		v, err := c.run(t.Context(), func(context.Context, int) error { time.Sleep(6 * time.Millisecond); return nil })
		if err != nil || v.sustained != 0 || len(v.held) != 0 {
			t.Errorf("%+v, %v", v, err)
		}
		quick := server(1, func(int) time.Duration { return 20 * time.Microsecond })
		c.from, c.length = 10_000, 100*time.Millisecond
		if v, err := c.run(t.Context(), func(ctx context.Context, i int) error {
			if i == 2500 { // at more than 25,000 a second
				time.Sleep(6 * time.Millisecond)
			}
			return quick(ctx, i)
		}); err != nil || v.sustained < 15_000 || v.sustained > 25_000 || v.mostly < 40_000 {
			t.Errorf("%+v, %v", v, err)
		}
		wrong := errors.New("a wrong answer")
		if _, err := c.run(t.Context(), func(context.Context, int) error { return wrong }); !errors.Is(err, wrong) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.run(ctx, func(context.Context, int) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
