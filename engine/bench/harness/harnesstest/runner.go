package harnesstest

import (
	"io"
	"testing"

	"heddle/engine/bench/harness"
)

// Runner returns a runner without a family that prints nothing.
func Runner(t *testing.T, opt harness.Options) *harness.Runner {
	t.Helper()
	r, err := harness.NewRunner(harness.Family{}, opt, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
