package bitmap

import (
	"testing"

	"heddle/engine/bench/harness/harnesstest"
)

func TestBitmapReproduce(t *testing.T) {
	harnesstest.Reproduce(t, Family, "nelson-fig8", "nelson-fig9", "nelson-fig11", "nelson-fig12", "nelson-fig14", "nelson-fig-rows", "nelson-table2")
}
