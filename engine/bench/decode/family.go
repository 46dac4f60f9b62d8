// Package decode measures the sizes and speeds of codecs.
package decode

import (
	"heddle/engine/bench/harness"
)

// Family measures codecs and reproduces the papers' measurements of them.
var Family = harness.Family{Name: "decode", Size: harness.ThemesSize, Exhibits: func(r *harness.Runner) []harness.Exhibit {
	s := &bench{harness.NewLogBench(r)}
	return []harness.Exhibit{
		s.intsExhibit(), s.coreExhibit(),
		s.aoTable2(), s.aoTable5(), s.aoFigure7(), s.aoFigure8(),
		s.dingTable1(), s.dingFigure3(), s.dingFigure4(),
	}
}}

// bench measures codecs.
type bench struct{ *harness.LogBench }
