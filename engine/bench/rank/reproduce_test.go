package rank

import (
	"heddle/engine/bench/harness/harnesstest"
	"testing"
)

func TestRankReproduce(t *testing.T) { harnesstest.Reproduce(t, Family, "ding-table3") }
