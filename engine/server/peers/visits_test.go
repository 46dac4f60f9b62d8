package peers

import (
	"context"
	"errors"
	"testing"
)

// TestVisits: the oldest visit ends for a new one, once, with its cause.
func TestVisits(t *testing.T) {
	var v Visits
	why := errors.New("why")
	cuts := 0
	enter := func() (context.Context, func(), bool) {
		return v.Enter(t.Context(), 2, why, func() { cuts++ })
	}
	first, leaveFirst, _ := enter()
	second, leaveSecond, room := enter()
	if room || v.Running() != 2 {
		t.Errorf("%d visits, room %v", v.Running(), room)
	}
	leaveSecond()
	if second.Err() == nil || context.Cause(second) == why {
		t.Errorf("a visit that has ended: %v", context.Cause(second))
	}
	_, leaveThird, _ := enter()
	_, leaveFourth, room := enter()
	if context.Cause(first) != why || cuts != 1 || !room || v.Running() != 2 {
		t.Errorf("cause %v, %d cuts, room %v, %d visits", context.Cause(first), cuts, room, v.Running())
	}
	for _, leave := range []func(){leaveFirst, leaveThird, leaveFourth, leaveFourth} {
		leave()
	}
	if v.Running() != 0 {
		t.Errorf("%d visits", v.Running())
	}
}
