package observe

import (
	"time"

	"heddle/engine/plan"
)

// Stages yields the parts of a batch's time that were measured, in their order.
func Stages(s *plan.Stats) func(yield func(name string, took time.Duration) bool) {
	return func(yield func(string, time.Duration) bool) {
		for _, stage := range [...]struct {
			name string
			took time.Duration
		}{
			{"upload", s.Upload}, {"decode", s.Decode}, {"probe", s.Probe}, {"score", s.Score},
			{"select", s.Select}, {"compact", s.Compact}, {"download", s.Download},
		} {
			if stage.took > 0 && !yield(stage.name, stage.took) {
				return
			}
		}
	}
}
