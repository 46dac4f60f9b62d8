package lists

import (
	"heddle/engine/bench/harness/harnesstest"
	"testing"
)

func TestListsReproduce(t *testing.T) {
	harnesstest.Reproduce(t, Family, "primitives", "ao-fig9b", "wu-fig8")
}
