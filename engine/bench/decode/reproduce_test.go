package decode

import (
	"testing"

	"heddle/engine/bench/harness/harnesstest"
)

func TestDecodeReproduce(t *testing.T) { harnesstest.Reproduce(t, Family) }
