package schedule

import (
	"testing"

	"heddle/engine/bench/harness/harnesstest"
)

func TestScheduleReproduce(t *testing.T) {
	harnesstest.Reproduce(t, Family, "choice", "wu-table2", "wu-fig9", "wu-fig10")
}
