package workload

import (
	"context"
	"math"
	"slices"
	"testing"

	"heddle/engine/plan/reference"
)

func TestPair(t *testing.T) {
	for _, c := range [][2]int{{4096, 4096}, {1000, 100_000}, {1, 1000}} {
		p, err := NewPair(context.Background(), 1, c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Source.Validate(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Want, reference.Intersect(p.A, p.B)) || len(p.A) > len(p.B) || p.Inputs() != len(p.A)+len(p.B) {
			t.Errorf("%v: %d and %d docIDs, %d in both", c, len(p.A), len(p.B), len(p.Want))
		}
		near := func(got, want int) bool { return math.Abs(float64(got-want)) <= 6*math.Sqrt(float64(want))+1 }
		if !near(len(p.A), c[0]) || !near(len(p.B), c[1]) {
			t.Errorf("%v: %d and %d docIDs", c, len(p.A), len(p.B))
		}
		if share := float64(len(p.Want)) / float64(len(p.A)); c[0] >= 1000 && (share < 0.25 || share > 0.5) {
			t.Errorf("%v: %.2f in both", c, share)
		}
	}
}
