package hostfallback

import (
	"fmt"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

func TestBackend(t *testing.T) {
	for _, opt := range []Options{{}, {Threads: 1, Lazy: true}, {Threads: 5}} {
		t.Run(fmt.Sprintf("%+v", opt), func(t *testing.T) {
			plantest.Run(t, func(t *testing.T) plan.Backend { return New(opt) }, plantest.Options{Corrupt: true})
		})
	}
}
