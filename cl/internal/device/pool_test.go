package device

import (
	"errors"
	"testing"
)

// TestTry takes slots without waiting: idle ones first, then as many further ones as the pool may have.
func TestTry(t *testing.T) {
	p, made := NewPool[int](2), 0
	open := func() (*int, error) {
		made++
		n := made
		return &n, nil
	}
	take := func(want int) *int {
		t.Helper()
		x, err := p.Try(open)
		if err != nil || (x == nil) != (want == 0) || x != nil && *x != want {
			t.Fatalf("got %v, %v, want slot %d", x, err, want)
		}
		return x
	}
	first := take(1)
	p.Give(first)
	take(1)
	if x, err := p.Try(func() (*int, error) { return nil, errors.New("no memory") }); x != nil || err == nil {
		t.Fatalf("got %v, %v, want an error", x, err)
	}
	second := take(2)
	take(0)
	p.Give(second)
	take(2)
	take(0)
	p.Give(first)
	p.Give(second)
	released := 0
	p.Drain(func(*int) { released++ })
	if made != 2 || released != 2 {
		t.Errorf("%d slots made and %d released, want 2", made, released)
	}
}
