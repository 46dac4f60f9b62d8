package bench

import (
	"heddle/engine/bench/bitmap"
	"heddle/engine/bench/decode"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/lists"
	"heddle/engine/bench/rank"
	"heddle/engine/bench/schedule"
)

// Exhibits returns the exhibits of all families, in the order of the command line.
func Exhibits() (all []harness.Exhibit) {
	for _, f := range []harness.Family{lists.Family, decode.Family, rank.Family, bitmap.Family, schedule.Family} {
		all = append(all, f.Exhibits(new(harness.Runner))...)
	}
	return all
}
