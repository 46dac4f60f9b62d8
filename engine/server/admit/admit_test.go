package admit

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestConcurrency checks the limits of running requests against a count.
func TestConcurrency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{Running: rapid.IntRange(1, 5).Draw(t, "running"), CallerRunning: rapid.IntRange(0, 3).Draw(t, "caller")}
		g := New(l)
		type entry struct {
			name string
			slot Slot
		}
		var open []entry
		of := map[string]int{}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
				slot, refused := g.Enter(name, 1, time.Minute)
				want := ""
				if l.CallerRunning > 0 && of[name] >= l.CallerRunning {
					want = "caller_concurrency"
				}
				if len(open) >= l.Running {
					want = "concurrency"
				}
				if (refused != nil) != (want != "") || refused != nil && (refused.Limit != want || refused.After <= 0) {
					t.Fatalf("%d run, %d of %s: %+v, want %q", len(open), of[name], name, refused, want)
				}
				if refused == nil {
					open = append(open, entry{name, slot})
					of[name]++
				}
			},
			"leave": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nothing runs")
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				g.Leave(open[i].slot, true)
				of[open[i].name]--
				open = append(open[:i], open[i+1:]...)
			},
			"": func(t *rapid.T) {
				if g.Running() != len(open) {
					t.Fatalf("%d run, want %d", g.Running(), len(open))
				}
			},
		})
	})
}

// TestRate checks that a caller never exceeds its rate by more than a second and a request.
func TestRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.IntRange(1, 1000).Draw(t, "rate")
		g := New(Limits{Running: 1, CallerRate: rate})
		now := time.Unix(1000, 0)
		g.now = func() time.Time { return now }
		began, queries, largest := now, 0, 0
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			n := rapid.IntRange(1, 50).Draw(t, "queries")
			slot, refused := g.Enter("a", n, time.Minute)
			if refused == nil {
				g.Leave(slot, true)
				queries, largest = queries+n, max(largest, n)
				if most := float64(rate)*(now.Sub(began).Seconds()+1) + float64(largest) + 1; float64(queries) > most {
					t.Fatalf("%d queries in %v at rate %d", queries, now.Sub(began), rate)
				}
			} else {
				now = now.Add(refused.After)
				if slot, refused = g.Enter("a", 1, time.Minute); refused != nil {
					t.Fatalf("refused after the promised time: %+v", refused)
				}
				g.Leave(slot, true)
				queries++
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(t, "pause")))
		}
	})
}

// TestBurst: a caller who was idle sends a second of queries at once and no further one, however
// long the idle time was; the time until the next attempt is one query of the rate.
func TestBurst(t *testing.T) {
	const rate = 50
	g := New(Limits{Running: 1, CallerRate: rate})
	now := time.Unix(1000, 0)
	g.now = func() time.Time { return now }
	for _, idle := range []time.Duration{0, time.Second, time.Hour} {
		now = now.Add(idle)
		admitted := 0
		for {
			slot, refused := g.Enter("a", 1, time.Minute)
			if refused != nil {
				if refused.Limit != "caller_rate" || refused.After <= 0 || refused.After > 2*time.Second/rate {
					t.Errorf("%+v", refused)
				}
				break
			}
			g.Leave(slot, true)
			admitted++
		}
		if admitted < rate || admitted > rate+1 {
			t.Errorf("idle for %v: %d queries at once at rate %d", idle, admitted, rate)
		}
	}
}

// TestForget checks that accounts of past callers do not stay.
func TestForget(t *testing.T) {
	g := New(Limits{Running: 10, CallerRate: 1000})
	now := time.Unix(1000, 0)
	g.now = func() time.Time { return now }
	for i := range 10_000 {
		slot, refused := g.Enter(fmt.Sprint(i), 1, time.Minute)
		if refused != nil {
			t.Fatal(refused)
		}
		g.Leave(slot, true)
		now = now.Add(time.Millisecond)
	}
	if len(g.callers) > 4096 {
		t.Errorf("%d accounts", len(g.callers))
	}
}

// TestForgetKeeps: a caller beyond its rate is remembered, however many callers come.
func TestForgetKeeps(t *testing.T) {
	g := New(Limits{Running: 10, CallerRate: 1})
	now := time.Unix(1000, 0)
	g.now = func() time.Time { return now }
	for i := range 5000 {
		name := fmt.Sprint(i)
		slot, refused := g.Enter(name, 100, time.Hour)
		if refused != nil {
			t.Fatal(refused)
		}
		g.Leave(slot, true)
		if _, refused := g.Enter("0", 1, time.Hour); refused == nil || refused.Limit != "caller_rate" {
			t.Fatalf("behind %d callers: %+v", i, refused)
		}
	}
}

// TestPausedQueries: the queries of a request that waits for its client do not count.
func TestPausedQueries(t *testing.T) {
	g := New(Limits{Running: 1})
	slot, refused := g.Enter("a", 10, time.Hour)
	if refused != nil {
		t.Fatal(refused)
	}
	for _, want := range []struct {
		change           func()
		running, queries int
	}{
		{func() {}, 1, 10},
		{func() { g.Pause(&slot, 4) }, 0, 0},
		{func() { g.Resume(slot) }, 1, 6},
		{func() { g.Leave(slot, true) }, 0, 0},
	} {
		want.change()
		if g.Running() != want.running || g.Queries() != want.queries {
			t.Errorf("%d requests, %d queries; want %d, %d", g.Running(), g.Queries(), want.running, want.queries)
		}
	}
}
