package lists

import (
	"slices"

	"heddle/engine/bench/harness"
)

// Family measures intersections and reproduces the papers' measurements of them.
var Family = harness.Family{Name: "lists", Size: harness.ThemesSize, Exhibits: func(r *harness.Runner) []harness.Exhibit {
	s := &bench{harness.NewLogBench(r)}
	return slices.Concat(
		[]harness.Exhibit{s.logExhibit(), s.pairsExhibit(), s.skewExhibit(), s.setsExhibit(), s.croaringExhibit(), s.primitivesExhibit(),
			s.aoTable1(), s.aoTable3(), s.aoTable4(), s.aoTable7(),
			s.aoFigure1(), s.aoFigure3(), s.aoBuckets(), s.aoHeads(), s.aoLocal(),
			s.aoFigure5(), s.aoFigure6(), s.aoFigure9a(), s.aoFigure9b()},
		[]harness.Exhibit{s.wuFigure5(), s.wuFigure6(), s.wuFigure8()},
		[]harness.Exhibit{s.dingFigure6(), s.dingUneven()})
}}

// bench measures intersections.
type bench struct{ *harness.LogBench }
