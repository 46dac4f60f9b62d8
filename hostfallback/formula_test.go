package hostfallback

import (
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestFormulas runs the cases of Store.Evaluate with one thread and with several,
// with the tables of Auto and without any.
func TestFormulas(t *testing.T) {
	for name, opt := range map[string]Options{
		"one thread":    {Threads: 1},
		"three threads": {Threads: 3},
		"lazy":          {Threads: 2, Lazy: true},
		"no memory":     {Threads: 2, MemoryLimit: 1},
	} {
		t.Run(name, func(t *testing.T) {
			plantest.RunFormulas(t, func(*testing.T) plan.Backend { return New(opt) }, plantest.Options{Corrupt: true})
		})
	}
}
