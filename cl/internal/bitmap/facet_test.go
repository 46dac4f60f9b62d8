package bitmap

import (
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
)

// TestFacetSelfTest passes the self-test of count_codes in both shapes.
func TestFacetSelfTest(t *testing.T) {
	d := devicetest.Find(t, ops)
	for name, shape := range devicetest.Shapes(d) {
		t.Run(name, func(t *testing.T) {
			rt, err := device.Open(t.Context(), d, device.Options{Tuning: &shape})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			if err := selfTestFacets(t.Context(), rt); err != nil || !rt.HasPassed(facetKey{}) {
				t.Error(err)
			}
		})
	}
}
