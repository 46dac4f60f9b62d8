package hostfallback

import (
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/selecttest"
)

func TestTables(t *testing.T) {
	run := func(name string, opt Options, small bool) {
		t.Run(name, func(t *testing.T) {
			selecttest.Run(t, func(*testing.T) plan.Backend { return New(opt) }, plantest.Options{Small: small, Corrupt: true})
		})
	}
	if !testing.Short() {
		run("full", Options{Threads: 4}, false)
		run("onethread", Options{Threads: 1}, true)
	}
	run("threads", Options{Threads: 3}, true)
	run("noroom", Options{Threads: 2, MemoryLimit: 1}, true)
}
