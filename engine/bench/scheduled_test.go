package bench

import (
	"testing"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/schedule"
)

// TestScheduled checks that one bench has all exhibits of scheduling.
func TestScheduled(t *testing.T) {
	opt := harness.Options{Figures: []string{"ding-fig7", "wu-fig3", "wu-fig4", "wu-fig7", "wu-fig9", "wu-fig10"}, Tables: []string{"wu-table2", "wu-table3"}}
	if err := schedule.Family.Check(opt); err != nil {
		t.Error(err)
	}
}
