package bitmap

import (
	"context"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
)

// TestFacetSelfTest passes the self-test of count_codes in both shapes.
func TestFacetSelfTest(t *testing.T) { passes(t, selfTestFacets, facetKey{}) }

// passes runs a self-test in each shape. The shape must then count as tested under the key.
func passes(t *testing.T, selfTest func(context.Context, *device.Runtime) error, key any) {
	d := devicetest.Find(t, ops)
	for name, shape := range devicetest.Shapes(d) {
		t.Run(name, func(t *testing.T) {
			rt, err := device.Open(t.Context(), d, device.Options{Tuning: &shape})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			if err := selfTest(t.Context(), rt); err != nil || !rt.HasPassed(key) {
				t.Error(err)
			}
		})
	}
}
