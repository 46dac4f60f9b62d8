package pool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"heddle/engine/internal/backend"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// closedOnce is a store that notes its end.
type closedOnce struct{ closes int }

func (s *closedOnce) Memory() uint64 { return 0 }
func (s *closedOnce) Close() error   { s.closes++; return plan.ErrClosed }

// TestClosedResidence: no batch and no probe enters a store behind its end.
func TestClosedResidence(t *testing.T) {
	s, failed := new(closedOnce), errors.New("failed")
	r := &Residence{Store: s, Probe: func(context.Context) error { return failed }}
	if err := r.probed(t.Context()); err != failed {
		t.Errorf("probe: %v", err)
	}
	if !r.Enter() || r.idle() {
		t.Error("a batch has not entered")
	}
	if r.Leave(); !r.idle() {
		t.Error("a batch has not left")
	}
	if err := r.close(); err != plan.ErrClosed || s.closes != 1 {
		t.Errorf("%v, closed %d times", err, s.closes)
	}
	if err := r.probed(t.Context()); r.Enter() || err != nil {
		t.Errorf("entered behind its end, probe: %v", err)
	}
}

// TestUntil: a call ends at the earliest of its deadlines.
func TestUntil(t *testing.T) {
	p := &Pool{opt: Options{Timeout: 20 * time.Hour}}
	now := time.Now()
	for _, c := range []struct {
		context time.Duration // 0: none
		call    Call
		want    time.Duration
	}{
		{0, Call{}, 20 * time.Hour}, {0, Call{Timeout: time.Hour}, time.Hour}, {0, Call{Timeout: -1}, 0},
		{10 * time.Hour, Call{}, 10 * time.Hour}, {30 * time.Hour, Call{}, 20 * time.Hour}, {30 * time.Hour, Call{Timeout: -1}, 30 * time.Hour},
		{10 * time.Hour, Call{Timeout: 5 * time.Hour}, 5 * time.Hour}, {10 * time.Hour, Call{Timeout: 15 * time.Hour}, 10 * time.Hour},
		{10 * time.Hour, Call{Timeout: time.Hour, Deadline: now.Add(50 * time.Hour)}, 50 * time.Hour},
	} {
		ctx := t.Context()
		if c.context > 0 {
			limited, cancel := context.WithDeadline(ctx, now.Add(c.context))
			defer cancel()
			ctx = limited
		}
		got := p.Until(ctx, &c.call).Deadline
		if late := got.Sub(now.Add(c.want)); c.want == 0 && !got.IsZero() || c.want > 0 && (late < 0 || late > time.Hour/2) {
			t.Errorf("context %v, call %v: %v, want in %v", c.context, c.call.Timeout, got, c.want)
		}
	}
}

// TestNames: devices of one name have numbers.
func TestNames(t *testing.T) {
	host := hostfallback.New(hostfallback.Options{Threads: 1})
	var open []backend.Opened
	for range 4 {
		open = append(open, backend.Opened{Candidate: backend.Candidate{Kept: true}, Backend: host, Info: plan.Info{Device: "card"}})
	}
	p, err := New(open, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := strings.Join(p.Names(), "|"); got != "card|card #2|card #3|card #4" {
		t.Error(got)
	}
}
