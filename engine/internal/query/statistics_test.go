package query

import (
	"testing"

	"heddle/engine/plan"
)

// TestExactLength: the mean length of documents is exact where their lengths are rounded.
func TestExactLength(t *testing.T) {
	for length, want := range map[uint64]uint64{0: 80, 83: 83} {
		x, err := NewIndex(&plan.Source{Docs: 2, Lengths: []uint32{40, 40}, Length: length}, nil, nil, plan.Auto)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Statistics(); got.Length != want || got.Docs != 2 {
			t.Errorf("statistics %+v, want length %d", got, want)
		}
	}
}
