package bench

import (
	"heddle/engine/bench/bitmap"
	"heddle/engine/bench/decode"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/lists"
	"heddle/engine/bench/rank"
	"heddle/engine/bench/schedule"
)

// Families are all benchmarks, in the order of the command line.
var Families = []harness.Family{lists.Family, decode.Family, rank.Family, bitmap.Family, schedule.Family}

// Exhibits returns the exhibits of all families.
func Exhibits() (all []harness.Exhibit) {
	for _, f := range Families {
		all = append(all, f.Exhibits(new(harness.Runner))...)
	}
	return all
}
