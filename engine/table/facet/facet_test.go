package facet

import "testing"

// TestMost: a count has no values, and the default is 10.
func TestMost(t *testing.T) {
	for a, want := range map[*Ask]int{{Limit: 7, CountOnly: true}: 0, {}: 10, {Limit: -1}: -1, {Limit: 7}: 7} {
		if got := a.Most(); got != want {
			t.Errorf("%+v: %d, want %d", a, got, want)
		}
	}
}
