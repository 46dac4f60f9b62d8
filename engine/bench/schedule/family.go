// Package schedule measures an engine under load, with host and devices together.
package schedule

import (
	"heddle/engine/bench/harness"
	"heddle/engine/bench/rank"
)

// Family measures an engine under load and reproduces the papers' measurements of
// scheduling.
var Family = harness.Family{Name: "schedule", Size: harness.ThemesSize, Exhibits: func(r *harness.Runner) []harness.Exhibit {
	s := newBench(r)
	return append([]harness.Exhibit{s.capacityExhibit(), s.policiesExhibit(), s.dingFigure7(), s.overheadExhibit(), s.callersExhibit(), s.predictionExhibit(), s.choiceExhibit(), s.devicesExhibit()},
		newWu(s.LogBench).exhibits()...)
}}

// bench puts engines under load.
type bench struct {
	*harness.LogBench
	ranked *rank.WorkloadBench
	served map[string]*served // by name
}

func newBench(r *harness.Runner) *bench {
	s := &bench{LogBench: harness.NewLogBench(r), ranked: rank.NewWorkloadBench(r)}
	r.OnForget(s.forgetServed)
	return s
}
