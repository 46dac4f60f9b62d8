package engine

import "testing"

// TestTableLeaks opens, reloads and closes tables, with selections and without.
func TestTableLeaks(t *testing.T) {
	path := tableFile(t, 32)
	cycle := func(i int) {
		e, err := New(t.Context(), backendOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		x, err := e.OpenTable(t.Context(), path, TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			checkAll(t, x, Selection{})
		}
		if i%3 == 0 {
			if err := x.Reload(t.Context(), path); err != nil {
				t.Error(err)
			}
			checkOne(t, x, Selection{}, i%len(wheres))
		}
		if i%2 == 0 { // else the engine closes it
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	cycles, warm := 50, 3 // libraries keep some things after their first use
	if !onHost() {
		cycles = 5 // each takes longer on a device
	}
	for i := range warm {
		cycle(i)
	}
	before := holding(t)
	for i := range cycles {
		cycle(i)
	}
	comeBack(t, before)
}
