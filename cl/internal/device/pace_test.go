package device

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestPace cuts launches whose work-groups take different times: no piece takes more than 100 ms unless one work-group does,
// and launches that take little time are whole in the end. Each work-group is enqueued once, in order.
func TestPace(t *testing.T) {
	for name, c := range map[string]struct {
		steps, beside, launches int
		each                    func(launch, group int) time.Duration
	}{
		"fast":         {1 << 20, 1, 20, func(int, int) time.Duration { return time.Nanosecond }},
		"rows":         {1 << 12, 300, 20, func(int, int) time.Duration { return time.Nanosecond }},
		"slow":         {1 << 12, 1, 3, func(int, int) time.Duration { return time.Millisecond }},
		"very slow":    {64, 1, 2, func(int, int) time.Duration { return 12 * time.Millisecond }},
		"slower later": {1 << 14, 1, 4, func(_, group int) time.Duration { return time.Duration(1+group/1000) * 20 * time.Microsecond }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &Runtime{}
				rt.Info.ComputeUnits = 1
				p := rt.paceOf(KernelID{Name: "k"})
				pieces, longest := 0, time.Duration(0)
				for launch := range c.launches {
					next, under := 0, time.Duration(0) // under way
					if pieces = 0; c.steps*c.beside <= p.groups() {
						continue
					}
					err := p.cut(c.steps, c.beside, c.steps, func() error {
						time.Sleep(under)
						under = 0
						return nil
					}, func(from, n int) error {
						if from != next || n < 1 {
							t.Fatalf("a piece of %d steps from %d, not %d", n, from, next)
						}
						next, pieces = from+n, pieces+1
						own := time.Duration(0)
						for g := from * c.beside; g < next*c.beside; g++ {
							own += c.each(launch, g)
						}
						under, longest = under+own, max(longest, own)
						return nil
					})
					if err != nil || next != c.steps {
						t.Fatalf("%d of %d steps: %v", next, c.steps, err)
					}
				}
				quick := c.each(0, c.steps*c.beside-1) < time.Microsecond
				if longest > 100*time.Millisecond || quick != (pieces == 0) {
					t.Errorf("the longest piece took %v, the last launch had %d pieces", longest, pieces)
				}
			})
		})
	}
}

// TestPaceReach cuts a launch whose pieces begin up to some step.
func TestPaceReach(t *testing.T) {
	p := &pace{fixed: 3}
	var begins []int
	if err := p.cut(20, 1, 7, nil, func(from, n int) error {
		begins = append(begins, from, n)
		return nil
	}); err != nil || !slices.Equal(begins, []int{0, 3, 3, 3, 6, 14}) {
		t.Errorf("pieces %v, %v", begins, err)
	}
}
