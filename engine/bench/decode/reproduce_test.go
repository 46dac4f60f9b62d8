package decode

import (
	"heddle/engine/bench/harness/harnesstest"
	"testing"
)

func TestDecodeReproduce(t *testing.T) { harnesstest.Reproduce(t, Family) }
