package schedule

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

func TestNewRefuses(t *testing.T) {
	good := fake(0, "gpu", 1)
	for name, change := range map[string]func(*Options, *Processor){
		"lanes":     func(_ *Options, p *Processor) { p.Lanes = 0 },
		"singles":   func(_ *Options, p *Processor) { p.Singles = -1 },
		"threads":   func(_ *Options, p *Processor) { p.Threads = 1 },
		"threshold": func(_ *Options, p *Processor) { p.Threshold = nil },
		"estimate":  func(_ *Options, p *Processor) { p.Estimate = nil },
		"run":       func(_ *Options, p *Processor) { p.Run = nil },
		"mode":      func(o *Options, _ *Processor) { o.Mode = 3 },
		"capacity":  func(o *Options, _ *Processor) { o.Capacity = -1 },
		"age":       func(o *Options, _ *Processor) { o.MaxAge = -1 },
		"leave":     func(o *Options, _ *Processor) { o.Leave = 0.8 },
		"similar":   func(o *Options, _ *Processor) { o.Similar = 0.9 },
	} {
		opt, p := Options{}, good
		change(&opt, &p)
		if s, err := New(opt, p); err == nil {
			t.Errorf("%s: accepted", name)
			s.Close()
		}
	}
	if _, err := New(Options{}); err == nil {
		t.Error("no processors: accepted")
	}
	if _, err := New(Options{}, make([]Processor, 65)...); err == nil {
		t.Error("65 processors: accepted")
	}
}

// Close ends waiting jobs and waits for running ones. All goroutines are gone after it: else
// the bubble of the test does not end.
func TestClose(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		for _, inline := range []bool{false, true} {
			testneeds.Bubble(t, func(t *testing.T) {
				p := fake(0, "host", 1)
				p.Inline = inline
				s := start(t, Options{Mode: mode}, p)
				jobs := jobsOf("", 20, 10*ms)
				var ends []<-chan error
				for _, j := range jobs {
					ends = append(ends, launch(s, j))
					synctest.Wait()
				}
				begin := time.Now()
				second := make(chan error, 1)
				time.AfterFunc(ms, func() { second <- s.Close() })
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				running := map[Mode]int{Async: 1, Sync: 8}[mode]
				if took := time.Since(begin); took != time.Duration(running)*10*ms {
					t.Errorf("%v: closed after %v", mode, took)
				}
				for i, end := range ends {
					if err := <-end; (err == nil) != (i < running) || err != nil && !errors.Is(err, plan.ErrClosed) {
						t.Errorf("%v: job %d: %v", mode, i, err)
					}
				}
				if err := <-second; !errors.Is(err, plan.ErrClosed) {
					t.Error(err)
				}
			})
		}
	}
}
