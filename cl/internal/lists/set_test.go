package lists

import (
	"errors"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestClose waits for the builder of tables, frees a set once, and refuses batches.
func TestClose(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := &Set{Building: make(chan struct{}, 1), Closing: make(chan struct{})}
		if err := s.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		began, released := time.Now(), 0
		time.AfterFunc(time.Second, func() { s.Building <- struct{}{} })
		if err := s.Close(func() { released++ }); err != nil || released != 1 || time.Since(began) != time.Second {
			t.Errorf("freed %d times after %v, %v", released, time.Since(began), err)
		}
		if err := s.Close(func() { released++ }); !errors.Is(err, plan.ErrClosed) || released != 1 {
			t.Errorf("a second call: %v", err)
		}
		if err := s.Begin(t.Context()); !errors.Is(err, plan.ErrClosed) {
			t.Errorf("a batch after the end: %v", err)
		}
	})
}

// TestTotal adds up the memory of lists, tables and operations.
func TestTotal(t *testing.T) {
	s := &Set{Tables: map[plan.Algorithm]*Tables{}}
	if n := s.Total(); n != 0 {
		t.Errorf("%d bytes of nothing", n)
	}
	s.Arena, s.Tables[plan.Bits], s.Tables[plan.HS16] = &Arena{Bytes: 1}, &Tables{Bytes: 20}, &Tables{Bytes: 300}
	s.Count(func() uint64 { return 4000 })
	s.Count(func() uint64 { return 50000 })
	if n := s.Total(); n != 54321 {
		t.Errorf("%d bytes", n)
	}
}
