package cl

import (
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/matchtest"
	"heddle/engine/plan/plantest/ranktest"
	"heddle/engine/plan/plantest/selecttest"
	"heddle/engine/plan/testneeds"
)

// TestCut runs queries and selections with launches that are cut into pieces of three work-groups.
func TestCut(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, everything)
	for name, shape := range devicetest.Shapes(d) {
		t.Run(name, func(t *testing.T) {
			open := func(t *testing.T) plan.Backend {
				b, err := Open(t.Context(), d, Options{Tuning: &shape, SkipSelfTest: true})
				if err != nil {
					t.Fatal(err)
				}
				b.rt.FewGroups = 3
				return b
			}
			b := open(t)
			askAll(t, b.(*Backend))
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if !testneeds.Full() {
				return
			}
			opt := plantest.Options{Small: true, Ranked: 1 << 17, Codecs: scratchCodecs()}
			matchtest.Run(t, open, opt)
			ranktest.Run(t, open, opt)
			selecttest.Run(t, open, opt)
		})
	}
}
