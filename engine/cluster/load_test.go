package cluster

import (
	"context"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan/testneeds"
)

// TestLoads counts the calls of nodes, and reads the maps of all collections.
func TestLoads(t *testing.T) {
	m := place(t, newEngine(t), corpus(30), []int{0, 10, 10, 30}, 1)
	c := New(m, m, Options{})
	if n := len(c.Loads()); n != 0 {
		t.Errorf("%d nodes before the first call", n)
	}
	if _, err := c.Statistics(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	loads := c.Loads()
	for name, l := range loads {
		if l.Running != 0 || l.Recent <= 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	all, err := c.Maps(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "x" || len(all[0].Shards) != 3 || len(loads) == 0 {
		t.Errorf("maps %v, %d loads, %v", all, len(loads), err)
	}
}

// TestGivenUp: a call that its caller gives up, or that loses to a second request, says no more of a node
// than its time. A broken node counts as silent.
func TestGivenUp(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		m := place(t, newEngine(t), corpus(200), []int{0, 120, 200}, 2)
		c := New(m, m, Options{Second: 10 * time.Millisecond})
		m.set("n0", silent)
		for range 10 { // n0 is asked first in some
			if _, _, err := c.Search(t.Context(), "x", sample, api.Ask{}); err != nil {
				t.Fatal(err)
			}
		}
		if l := c.Loads()["n0"]; l.Recent < 10*time.Millisecond || l.Recent > 20*time.Millisecond {
			t.Errorf("a node that has lost: %+v", l)
		}
		m.set("n1", silent)
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			_, _, err := c.Search(ctx, "x", sample, api.Ask{})
			if cancel(); engine.CodeOf(err) != engine.Deadline {
				t.Fatal(err)
			}
		}
		if l := c.Loads()["n1"]; l.Recent > 20*time.Millisecond {
			t.Errorf("a node whose callers have left: %+v", l)
		}
		m.set("n0", down)
		m.set("n1", nil)
		time.Sleep(time.Hour) // until the calls of before are forgotten
		for range 10 {
			if _, _, err := c.Search(t.Context(), "x", sample, api.Ask{}); err != nil {
				t.Fatal(err)
			}
		}
		if l := c.Loads()["n0"]; l.Recent < c.opt.Silence {
			t.Errorf("a broken node: %+v", l)
		}
	})
}
