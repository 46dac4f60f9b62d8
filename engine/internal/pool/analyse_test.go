package pool

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/schedule"
)

// analyses is a pool that analyses one text at a time.
type analyses struct {
	*Pool
	t     *testing.T
	start chan string // receives the caller of an analysis that begins
	open  chan struct{}
	ended sync.WaitGroup
}

func newTestAnalyses(t *testing.T, capacity int) *analyses {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	s, err := newAnalyses(&schedule.Options{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	a := &analyses{Pool: &Pool{analyses: s}, t: t, start: make(chan string, 100), open: make(chan struct{})}
	t.Cleanup(func() {
		a.ended.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// ask analyses a text that ends after open is closed.
func (a *analyses) ask(ctx context.Context, caller string) error {
	until := limit.Until{Context: ctx}
	return a.Analyse(&until, caller, limit.Step+1, func() error {
		a.start <- caller
		<-a.open
		return until.Err()
	})
}

// wait starts an analysis and returns when n wait.
func (a *analyses) wait(ctx context.Context, caller string, n int) chan error {
	out := make(chan error, 1)
	a.ended.Go(func() { out <- a.ask(ctx, caller) })
	for {
		waiting := 0
		for _, n := range a.analyses.Stats().Queued {
			waiting += n
		}
		if waiting == n {
			return out
		}
		time.Sleep(time.Millisecond)
	}
}

// TestAnalysisQueue refuses a text beyond the bound of the queue.
func TestAnalysisQueue(t *testing.T) {
	a := newTestAnalyses(t, 2)
	outs := []chan error{a.wait(t.Context(), "a", 0)}
	<-a.start
	outs = append(outs, a.wait(t.Context(), "a", 1), a.wait(t.Context(), "a", 2))
	if err := a.ask(t.Context(), "b"); !errors.Is(err, schedule.ErrFull) {
		t.Errorf("a third text waits: %v", err)
	}
	if err := a.Pool.analyses.Stats().Refused; err != 1 {
		t.Errorf("%d refused", err)
	}
	close(a.open)
	for _, out := range outs {
		if err := <-out; err != nil {
			t.Error(err)
		}
	}
}

// TestAnalysisFairness analyses the only text of one caller before most texts of another.
func TestAnalysisFairness(t *testing.T) {
	a := newTestAnalyses(t, 100)
	a.wait(t.Context(), "many", 0)
	<-a.start
	for n := range 20 {
		a.wait(t.Context(), "many", n+1)
	}
	a.wait(t.Context(), "one", 21)
	close(a.open)
	a.ended.Wait()
	close(a.start)
	var order []string
	for caller := range a.start {
		order = append(order, caller)
	}
	if at := slices.Index(order, "one"); len(order) != 21 || at < 0 || at > 1 {
		t.Errorf("order %q", order)
	}
}

// TestAnalysisEnds: a waiting text ends with its context or deadline and is never analysed.
// A text in analysis ends by its own look at them.
func TestAnalysisEnds(t *testing.T) {
	a := newTestAnalyses(t, 100)
	running, stop := context.WithCancel(t.Context())
	first := a.wait(running, "a", 0)
	<-a.start
	ctx, cancel := context.WithCancel(t.Context())
	out := a.wait(ctx, "a", 1)
	cancel()
	if err := <-out; !errors.Is(err, context.Canceled) {
		t.Errorf("a waiting text: %v", err)
	}
	until := limit.Until{Context: t.Context(), Deadline: time.Now().Add(time.Millisecond)}
	if err := a.Analyse(&until, "a", limit.Step+1, func() error { t.Error("analysed"); return nil }); !errors.Is(err, schedule.ErrDeadline) {
		t.Errorf("a text past its deadline: %v", err)
	}
	stop()
	select {
	case err := <-first:
		t.Errorf("the call returned before its analysis: %v", err)
	default:
	}
	close(a.open)
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("a text in analysis: %v", err)
	}
	if n := len(a.start); n != 0 {
		t.Errorf("%d texts were analysed after their end", n)
	}
}
