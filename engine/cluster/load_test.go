package cluster

import "testing"

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
