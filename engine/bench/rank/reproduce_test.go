package rank

import (
	"testing"

	"heddle/engine/bench/harness/harnesstest"
)

func TestRankReproduce(t *testing.T) { harnesstest.Reproduce(t, Family, "ding-table3", "pisa") }
