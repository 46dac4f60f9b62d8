package load

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/bench/benchtest"
	"heddle/engine/plan/testneeds"
)

// simulatedServer is a server in virtual time that answers searches one after the other.
type simulatedServer struct {
	api.IndexServiceClient
	free    chan struct{}
	service func(number int) (time.Duration, error)
	asked   int
}

func (s *simulatedServer) GetIndex(context.Context, *api.GetIndexRequest) (*api.Index, error) {
	return &api.Index{Ready: true}, nil
}

func (s *simulatedServer) Search(_ context.Context, r *api.SearchRequest) (*api.SearchResponse, error) {
	began := time.Now()
	s.free <- struct{}{}
	queued := time.Since(began)
	s.asked++
	took, err := s.service(s.asked)
	time.Sleep(took)
	<-s.free
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return &api.SearchResponse{TookMs: ms(time.Since(began)), QueuedMs: ms(queued)}, err
}

// drive puts a load on a simulated server, and returns the levels.
func drive(t *testing.T, opt Options, service func(int) (time.Duration, error)) (capacity float64, levels []*Level, err error) {
	t.Helper()
	testneeds.Bubble(t, func(t *testing.T) {
		s := &simulatedServer{free: make(chan struct{}, 1), service: service}
		if opt.Wait == nil {
			opt.Wait = benchtest.SleepUntil
		}
		opt.Report = func(l *Level) error { levels = append(levels, l); return nil }
		capacity, err = Run(t.Context(), &api.Client{IndexServiceClient: s}, &Work{Index: "x", Kind: Search, Topics: []string{"a", "b"}, Batch: 1}, opt)
	})
	return capacity, levels, err
}

// TestSweepFinds: the capacity is about the rate at which the server is always busy, whether the
// sweep begins below or above it.
func TestSweepFinds(t *testing.T) {
	for _, from := range []float64{60, 5000} {
		capacity, levels, err := drive(t, Options{From: from}, func(int) (time.Duration, error) { return time.Millisecond, nil })
		if err != nil || capacity < 880 || capacity > 1080 {
			t.Errorf("from %v: capacity %v, %v", from, capacity, err)
		}
		for _, l := range levels {
			if l.Held != (l.Rate <= capacity+1) || l.Answered != l.Queries || l.Held && math.Abs(l.Throughput/l.Rate-1) > 0.06 || !l.Held && l.Throughput > 1001 {
				t.Errorf("from %v: capacity %v, %+v", from, capacity, *l)
			}
			// The latency of a server that works one millisecond is this and the time in its queue.
			if d := l.Latency.P50 - l.Server.P50; math.Abs(d) > 0.01 || math.Abs(l.Server.P50-l.Queued.P50-1) > 0.01 {
				t.Errorf("latency %+v, server %+v, queued %+v", l.Latency, l.Server, l.Queued)
			}
		}
	}
}

// TestLateLoad: a load tells its own lateness from that of the server.
func TestLateLoad(t *testing.T) {
	for _, own := range []bool{false, true} {
		opt, took := Options{Rate: 1000, Length: time.Second, Timeout: 20 * time.Millisecond}, 10*time.Microsecond
		if own {
			opt.Wait = func(at time.Time) {
				benchtest.SleepUntil(at)
				time.Sleep(30 * time.Millisecond)
			}
		} else {
			took = 30 * time.Millisecond
		}
		capacity, levels, err := drive(t, opt, func(int) (time.Duration, error) { return took, nil })
		if err != nil || capacity != 0 || levels[0].Held || levels[0].Limited != own {
			t.Errorf("late by itself %t: capacity %v, %+v, %v", own, capacity, *levels[0], err)
		}
	}
	held, late, fails := &Level{Rate: 100, Held: true}, &Level{Rate: 200, Limited: true}, &Level{Rate: 150}
	if !Limited([]*Level{held, late}, 100) || Limited([]*Level{held, late, fails}, 100) || !Limited([]*Level{late}, 0) || Limited([]*Level{held}, 100) {
		t.Error("the lowest rate that does not hold decides")
	}
}

// TestSweepStable: windows repeat until their medians agree, up to a bound.
func TestSweepStable(t *testing.T) {
	const rate, length = 100, time.Second
	for _, test := range []struct {
		name    string
		service func(n int) (time.Duration, error)
		stable  bool
		windows int
	}{
		{"steady", func(int) (time.Duration, error) { return time.Millisecond, nil }, true, agreeing},
		{"warms up", func(n int) (time.Duration, error) {
			return time.Millisecond + 4*time.Millisecond/time.Duration(1+n/rate), nil
		}, true, 7},
		{"drifts", func(n int) (time.Duration, error) { return time.Millisecond * time.Duration(1+n/rate), nil }, false, mostWindows},
	} {
		testneeds.Bubble(t, func(t *testing.T) {
			s := &simulatedServer{free: make(chan struct{}, 1), service: test.service}
			r := &run{opt: Options{Length: length, Timeout: time.Minute, Wait: benchtest.SleepUntil}, client: &api.Client{IndexServiceClient: s},
				work: &Work{Index: "x", Kind: Search, Topics: []string{"a"}, Batch: 1}}
			l, err := r.measure(t.Context(), rate)
			if err != nil || l.Stable != test.stable || !l.Held {
				t.Errorf("%s: %+v, %v", test.name, l, err)
			}
			if windows := s.asked / rate; windows < test.windows-1 || windows > test.windows {
				t.Errorf("%s: %d windows, want about %d", test.name, windows, test.windows)
			}
		})
	}
}

// TestErrors: queries without an answer are counted by code, and a rate with many of them does not
// hold. A server that answers nothing ends the sweep.
func TestErrors(t *testing.T) {
	refused := &engine.Error{Code: engine.Overloaded, Op: "search", Err: errors.New("full")}
	gone := connect.NewError(connect.CodeUnavailable, "connection refused")
	some := func(n int) (time.Duration, error) {
		switch {
		case n%10 == 0:
			return 0, refused
		case n%100 == 1:
			return 0, api.EngineError(gone)
		}
		return time.Microsecond, nil
	}
	capacity, levels, err := drive(t, Options{Rate: 100, Length: 10 * time.Second}, some)
	if err != nil || capacity != 0 || len(levels) != 1 {
		t.Fatalf("capacity %v, %d levels, %v", capacity, len(levels), err)
	}
	l := levels[0]
	if l.Held || l.Queries != 1000 || l.Answered != 890 || l.Errors["overloaded"] != 100 || l.Errors["unreachable"] != 10 || len(l.Errors) != 2 || math.Abs(l.Throughput-89) > 1 {
		t.Errorf("%+v", *l)
	}
	if text := l.verdict(); text != "does not hold, 100 overloaded, 10 unreachable" {
		t.Error(text)
	}
	_, _, err = drive(t, Options{}, func(int) (time.Duration, error) { return 0, refused })
	if err == nil || !strings.Contains(err.Error(), "no query has an answer: 400 overloaded") {
		t.Error(err)
	}
}

// TestOmitsNothing: all queries that should start during a pause of the server wait for it.
func TestOmitsNothing(t *testing.T) {
	capacity, levels, err := drive(t, Options{Rate: 1000, Length: 5 * time.Second}, func(n int) (time.Duration, error) {
		if n == 1000 {
			return time.Second, nil
		}
		return time.Microsecond, nil
	})
	if err != nil || capacity != 1000 || levels[0].Latency.P90 < 450 || levels[0].Latency.P90 > 550 || levels[0].Latency.Max < 990 {
		t.Errorf("capacity %v, %+v, %v", capacity, levels, err)
	}
}

// TestLate: queries that the load itself cannot send in time are not sent.
func TestLate(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := &simulatedServer{free: make(chan struct{}, 1), service: func(int) (time.Duration, error) { return 0, nil }}
		r := &run{client: &api.Client{IndexServiceClient: s}, work: &Work{Index: "x", Kind: Search, Topics: []string{"a"}, Batch: 1},
			opt: Options{Timeout: time.Second, Wait: func(at time.Time) { benchtest.SleepUntil(at.Add(10 * time.Second)) }}}
		w, err := r.window(t.Context(), 100, time.Second)
		if err != nil || w.errors[late] != 100 || s.asked != 0 || w.held {
			t.Errorf("%+v, %d asked, %v", w, s.asked, err)
		}
	})
}

// TestTooMany: a load that would not fit memory is refused.
func TestTooMany(t *testing.T) {
	if _, _, err := drive(t, Options{Rate: 1e6, Length: time.Hour}, nil); engine.CodeOf(err) != engine.InvalidOption {
		t.Error(err)
	}
}
