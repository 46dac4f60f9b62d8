package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/bench/benchtest"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan/testneeds"
)

// station answers n queries at a time in order of arrival. service returns the time of
// each.
func station(n int, service func(i int) time.Duration) func(ctx context.Context, i int) error {
	free := make(chan struct{}, n)
	return func(_ context.Context, i int) error {
		free <- struct{}{}
		time.Sleep(service(i))
		<-free
		return nil
	}
}

// TestLoadQueues compares the delays of a load with queueing theory. With Poisson
// arrivals at one server, the mean wait is ρ/(1-ρ) service times for exponential
// service (M/M/1), and half of this for constant service (M/D/1). The delay of M/M/1 is
// exponential.
func TestLoadQueues(t *testing.T) {
	const service = time.Millisecond
	for _, test := range []struct {
		name    string
		rho     float64
		random  bool
		queries int
	}{{"M/M/1", 0.5, true, 60_000}, {"M/D/1", 0.3, false, 20_000}, {"M/D/1", 0.7, false, 40_000}} {
		testneeds.Bubble(t, func(t *testing.T) {
			r := workload.NewRandom(5, workload.StreamGaps, 0)
			times := make([]time.Duration, test.queries)
			for i := range times {
				times[i] = service
				if test.random {
					times[i] = gap(r, 1/service.Seconds())
				}
			}
			l := Loop{Rate: test.rho / service.Seconds(), Queries: test.queries, Seed: 1, Wait: benchtest.SleepUntil}
			d, err := l.Run(t.Context(), station(1, func(i int) time.Duration { return times[i] }))
			if err != nil || len(d.Milliseconds) != test.queries || d.missed() != 0 || d.sent != test.queries || d.Behind != 0 {
				t.Fatalf("%s: %v, %v", test.name, d, err)
			}
			waits := test.rho / (1 - test.rho) // in service times
			if !test.random {
				waits /= 2
			}
			if got := d.Mean() - 1; math.Abs(got-waits) > 0.04*waits {
				t.Errorf("%s at %v: waits %.3f ms in the mean, want %.3f", test.name, test.rho, got, waits)
			}
			if test.random {
				for _, p := range []int{50, 90, 99} {
					want := -math.Log(1-float64(p)/100) / (1 - test.rho)
					if got := measure.Percentile(d.Milliseconds, p); math.Abs(got-want) > 0.06*want {
						t.Errorf("%s at %v: p%d %.3f ms, want %.3f", test.name, test.rho, p, got, want)
					}
				}
			}
		})
	}
}

// TestLoadOmitsNothing: arrivals during a pause count, whether the engine or the sender
// pauses.
func TestLoadOmitsNothing(t *testing.T) {
	const from, to = 2 * time.Second, 3 * time.Second
	for _, who := range []string{"engine", "sender"} {
		testneeds.Bubble(t, func(t *testing.T) {
			start := time.Now()
			pause := func() {
				if at := time.Since(start); at >= from && at < to {
					time.Sleep(to - at)
				}
			}
			l := Loop{Rate: 1000, Queries: 5000, Seed: 2, Wait: benchtest.SleepUntil}
			if who == "sender" {
				l.Wait = func(t time.Time) { benchtest.SleepUntil(t); pause() }
			}
			d, err := l.Run(t.Context(), func(context.Context, int) error {
				if who == "engine" {
					pause()
				}
				return nil
			})
			// A thousand arrivals wait half a second on average.
			sum := d.Mean() * float64(len(d.Milliseconds))
			if err != nil || len(d.Milliseconds) != 5000 || math.Abs(sum-500_000) > 40_000 {
				t.Errorf("%s: %v, %v: sum of delays %.0f ms, want 500000", who, d, err, sum)
			}
			if waited := len(d.Milliseconds) - slices.IndexFunc(d.Milliseconds, func(ms float64) bool { return ms > 0.001 }); waited < 900 || waited > 1100 {
				t.Errorf("%s: %d queries waited, want about 1000", who, waited)
			}
			if (d.Behind > 500) != (who == "sender") {
				t.Errorf("%s: sent %v ms late", who, d.Behind)
			}
		})
	}
}

// TestLoadCounts: refused, expired, failed and late queries are counted separately.
func TestLoadCounts(t *testing.T) {
	broken := errors.New("broken")
	testneeds.Bubble(t, func(t *testing.T) {
		l := Loop{Rate: 1000, Queries: 1000, Seed: 3, Deadline: 10 * time.Millisecond, Misses: 1000, Wait: benchtest.SleepUntil}
		d, err := l.Run(t.Context(), func(ctx context.Context, i int) error {
			if at, ok := ctx.Deadline(); !ok || !at.Equal(time.Now().Add(l.Deadline)) {
				t.Errorf("query %d: deadline %v, %v", i, at, ok)
			}
			switch i % 10 {
			case 0:
				return &schedule.FullError{}
			case 1, 2:
				return &schedule.DeadlineError{}
			case 3:
				return broken
			case 4, 5, 6:
				time.Sleep(11 * time.Millisecond)
			}
			return nil
		})
		if err != nil || d.refused != 100 || d.Expired != 200 || d.Failed != 100 || d.late != 300 || len(d.Milliseconds) != 600 || d.missed() != 700 || !errors.Is(d.Err, broken) {
			t.Errorf("%v, %v, %v", d, err, d.Err)
		}
	})
	// The load ends after too many missed deadlines.
	testneeds.Bubble(t, func(t *testing.T) {
		l := Loop{Rate: 1000, Queries: 1_000_000, Seed: 3, Deadline: time.Millisecond, Misses: 10, Wait: benchtest.SleepUntil}
		d, err := l.Run(t.Context(), func(context.Context, int) error { return context.DeadlineExceeded })
		if err != nil || d.Expired != 11 || d.sent != 11 {
			t.Errorf("%v, %v", d, err)
		}
	})
	// The load refuses queries beyond the limit and ends with its context.
	testneeds.Bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var most, now atomic.Int64
		l := Loop{Rate: 1000, Queries: 100_000, Seed: 3, flight: 50, Misses: 100_000, Wait: benchtest.SleepUntil}
		time.AfterFunc(10*time.Second, cancel)
		d, err := l.Run(ctx, func(ctx context.Context, i int) error {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return nil
		})
		if !errors.Is(err, context.Canceled) || most.Load() != 50 || d.refused < 9000 || d.sent < 9700 || d.sent > 10_300 || now.Load() != 0 {
			t.Errorf("%v, %v, %d at a time", d, err, most.Load())
		}
	})
}

// TestLoadStarts: the first of many queries is sent on time.
func TestLoadStarts(t *testing.T) {
	const queries = 500_000
	least := time.Hour
	for range 5 { // other work may interfere
		late, end := time.Duration(-1), errors.New("enough")
		l := Loop{Rate: 100_000, Queries: queries, Seed: 5, Wait: func(at time.Time) {
			if late < 0 {
				late = max(time.Since(at), 0)
			}
			waitUntil(at)
		}}
		if d, err := l.Run(t.Context(), func(context.Context, int) error { return end }); err != nil || !errors.Is(d.Err, end) {
			t.Fatal(d, err)
		}
		least = min(least, late)
	}
	if least > 2*time.Millisecond {
		t.Errorf("the first query is sent %v late", least)
	}
}

// TestLoadArrivals: queries arrive as a Poisson process, and each is sent once, at its time.
func TestLoadArrivals(t *testing.T) {
	const queries = 100_000
	testneeds.Bubble(t, func(t *testing.T) {
		times := make([]atomic.Int64, queries)
		l := Loop{Rate: 300_000, Queries: queries, Seed: 4, Wait: benchtest.SleepUntil}
		start := time.Now()
		if d, err := l.Run(t.Context(), func(_ context.Context, i int) error {
			times[i].Add(int64(time.Since(start)))
			return nil
		}); err != nil || d.sent != queries {
			t.Fatal(d, err)
		}
		at := make([]float64, queries)
		for i := range at {
			at[i] = time.Duration(times[i].Load()).Seconds()
		}
		slices.Sort(at)
		var sum, squares float64
		for i := range at[1:] {
			gap := at[i+1] - at[i]
			sum += gap
			squares += gap * gap
		}
		mean := sum / (queries - 1)
		if want := 1 / l.Rate; math.Abs(mean-want) > 0.02*want {
			t.Errorf("mean gap %v s, want %v", mean, want)
		}
		if cv := squares/(queries-1)/(mean*mean) - 1; math.Abs(cv-1) > 0.03 { // exponential: 1
			t.Errorf("squared coefficient of variation of gaps %v, want 1", cv)
		}
	})
}

// TestWaitUntil: waitUntil is never early, and mostly late by little, in real time.
func TestWaitUntil(t *testing.T) {
	var late []float64
	for i := range 100 {
		at := time.Now().Add(time.Duration(i%4) * 700 * time.Microsecond)
		waitUntil(at)
		d := time.Since(at)
		if d < 0 {
			t.Fatalf("early by %v", -d)
		}
		late = append(late, d.Seconds()*1e3)
	}
	slices.Sort(late)
	if p50 := measure.Percentile(late, 50); p50 > 50 {
		t.Errorf("late by %v ms in the median", p50)
	}
}

// String summarises the outcomes.
func (d *Delays) String() string {
	return fmt.Sprintf("%s/s: %d sent, %d answered in %s ms, p99 %s, %d late, %d refused, %d expired, %d failed; drained in %v, sent %s ms late",
		measure.Number(d.Rate), d.sent, len(d.Milliseconds), measure.Number(d.Mean()), measure.Number(measure.Percentile(d.Milliseconds, 99)), d.late, d.refused, d.Expired, d.Failed,
		d.Drain.Round(10*time.Microsecond), measure.Number(d.Behind))
}
