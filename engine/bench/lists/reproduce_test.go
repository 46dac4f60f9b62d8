package lists

import (
	"testing"

	"heddle/engine/bench/harness/harnesstest"
)

func TestListsReproduce(t *testing.T) {
	harnesstest.Reproduce(t, Family, "primitives", "ao-fig9b", "wu-fig8", "croaring")
}
