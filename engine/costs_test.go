package engine

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSharedCosts names one file of costs for two indexes: the second one is refused while the
// first one is open. Afterwards it opens, although the file holds costs of the first one.
func TestSharedCosts(t *testing.T) {
	costs := filepath.Join(t.TempDir(), "costs")
	opt := backendOptions(t)
	opt.Costs = costs
	e, err := New(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.OpenIndex(t.Context(), "none.hdl", IndexOptions{}); CodeOf(err) != NotFound {
		t.Fatal(err)
	}
	one, two := indexFile(t), shortIndexFile(t)
	x, err := e.OpenIndex(t.Context(), one, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.OpenIndex(t.Context(), two, IndexOptions{}); CodeOf(err) != InvalidOption || !strings.Contains(err.Error(), costs) {
		t.Errorf("a second index with the same costs: %v: %v", CodeOf(err), err)
	}
	if y, err := e.OpenIndex(t.Context(), two, IndexOptions{Costs: costs + "2"}); err != nil {
		t.Error(err)
	} else if err := y.Close(); err != nil {
		t.Error(err)
	}
	if _, err := x.Calibrate(t.Context(), CalibrateOptions{Kinds: []string{"and"}, Time: 1}); err != nil {
		t.Fatal(err)
	}
	if err := x.Reload(t.Context(), two); err != nil {
		t.Errorf("another file beside the costs: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	y, err := e.OpenIndex(t.Context(), two, IndexOptions{})
	if err != nil {
		t.Fatalf("after the close of the first one: %v", err)
	}
	if err := y.Close(); err != nil {
		t.Error(err)
	}
}
