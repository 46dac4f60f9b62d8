package hostfallback

import (
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

func TestTables(t *testing.T) {
	for name, c := range map[string]struct {
		opt   Options
		small bool
	}{
		"full":      {Options{Threads: 4}, raceDetector},
		"onethread": {Options{Threads: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			plantest.RunTables(t, func(*testing.T) plan.Backend { return New(c.opt) }, plantest.Options{Small: c.small, Corrupt: true})
		})
	}
}
