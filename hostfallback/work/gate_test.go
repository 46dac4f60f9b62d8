package work

import (
	"context"
	"errors"
	"math"
	"testing"

	"heddle/engine/plan"
)

func TestRun(t *testing.T) {
	var g Gate
	failed := errors.New("failed")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name       string
		ctx        context.Context
		answer     error
		want       error
		mustAnswer bool
	}{
		{"done", t.Context(), nil, nil, true},
		{"failed", t.Context(), failed, failed, true},
		{"ended", ended, nil, context.Canceled, false},
	} {
		var stats plan.Stats
		answered := false
		err := Run(c.ctx, &g, c.name, &stats, func() error {
			answered, stats.Matches = true, 7
			return c.answer
		})
		if !errors.Is(err, c.want) || answered != c.mustAnswer {
			t.Errorf("%s: %v, answered %t", c.name, err, answered)
		}
		if err == nil && (stats.Matches != 7 || stats.Wall <= 0) || err != nil && stats.Wall != 0 {
			t.Errorf("%s: statistics %+v", c.name, stats)
		}
	}
	g.Close()
	err := Run(t.Context(), &g, "late", new(plan.Stats), func() error {
		t.Error("answered after Close")
		return nil
	})
	if !errors.Is(err, plan.ErrClosed) {
		t.Error(err)
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		limit, usual uint64
		want         int64
	}{{1, 1 << 40, 1}, {0, 1, 64 << 20}, {0, 1 << 30, 1 << 30}, {0, 1 << 40, 4 << 30}, {math.MaxUint64, 0, math.MaxInt64}} {
		if got := NewBudget(c.limit, c.usual).Limit(); got != c.want {
			t.Errorf("limit %d, usual %d: %d bytes, want %d", c.limit, c.usual, got, c.want)
		}
	}
	b := NewBudget(10, 0)
	if !b.Take(6) || b.Take(5) || !b.Take(4) || b.Used() != 10 {
		t.Errorf("%d bytes in use", b.Used())
	}
	if b.Return(4); b.Used() != 6 {
		t.Errorf("%d bytes in use after Return", b.Used())
	}
}

// TestHold: Take leaves the bytes that are kept back, and TakeHeld takes no others.
func TestHold(t *testing.T) {
	b := NewBudget(10, 0)
	b.Hold(4)
	if b.Take(7) || !b.Take(6) || b.Take(1) || b.TakeHeld(5) || !b.TakeHeld(3) || b.Used() != 9 || b.Take(1) {
		t.Errorf("%d bytes in use", b.Used())
	}
	if b.Hold(-1); !b.Take(1) || b.Take(1) {
		t.Errorf("%d bytes in use after the last byte is free", b.Used())
	}
}

func TestRangeLen(t *testing.T) {
	for _, c := range []struct {
		docs, load, grain uint64
		threads           int
		want              uint64
	}{
		{0, 0, 10, 4, 100},
		{1000, 1000, 10, 1, 1100},
		{1000, 19, 10, 4, 1100},
		{1000, 20, 10, 4, 600},
		{1000, 1 << 40, 10, 4, 200},
	} {
		if got := RangeLen(c.docs, 100, c.load, c.grain, c.threads); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if g := Grain(100, 1000, 4); g != 100 {
		t.Errorf("grain of a small batch: %d", g)
	}
	if g := Grain(100, 64_000, 4); g != 1000 {
		t.Errorf("grain of a large batch: %d", g)
	}
}
