package chart

import (
	"fmt"
	"io"
	"strings"

	"heddle/engine/bench/measure"
)

// gain is a comparison of heddle with another library in the rows of benchmarks.
type gain struct {
	label           string // under the bar
	bench, workload string // workload is a prefix
	metric          string
	peer            string // row or baseline of the other library
	// row names heddle's row on a kind of backend.
	row func(backend string) string
}

func always(row string) func(string) string { return func(string) string { return row } }

// gains are the comparisons of the picture: one typical workload of each kind.
var gains = []gain{
	{"AND of lists\nroaring", "lists", "gov-clustered", "throughput", "roaring", always("raw/auto")},
	{"ranked OR\nbleve", "rank", "wordnet30", "throughput", "bleve", always("or")},
	{"ranked AND\nbleve", "rank", "wordnet30", "throughput", "bleve", always("and")},
	{"OR of 64 bitmaps\nroaring ParOr", "bitmap", "kdd, 64 bins", "time", "roaring ParOr, counts",
		func(backend string) string { return backend + ": auto, wah64, counts" }},
}

// has reports whether r is heddle's row of the comparison.
func (g gain) has(r measure.Row) bool {
	return r.Bench == g.bench && strings.HasPrefix(r.Workload, g.workload) && r.Metric == g.metric && r.Backend != "" && r.Row == g.row(r.Backend)
}

// ratio is the speed of heddle over the speed of the other library in the rows of one
// run, and 0 if the run does not have it.
func (g gain) ratio(r measure.Row, run []measure.Row) float64 {
	if r.Baseline == g.peer {
		return r.Ratio
	}
	for _, p := range run {
		if p.Bench == g.bench && p.Workload == r.Workload && p.Metric == g.metric && p.Row == g.peer && r.Unit == "µs" {
			return p.Median / r.Median // times
		}
	}
	return 0
}

// Gain draws the speed of heddle over other libraries as SVG: one group of bars for
// each comparison that the runs contain, one bar for each device. A later run replaces
// the figures of an earlier one.
func Gain(out io.Writer, runs ...[]measure.Row) error {
	type place struct{ label, device string }
	ratios := make(map[place]float64)
	var devices []string
	for _, run := range runs {
		for _, r := range run {
			for _, g := range gains {
				if !g.has(r) {
					continue
				}
				if v := g.ratio(r, run); v > 0 {
					ratios[place{g.label, r.Device}] = v
					devices = append(devices, r.Device)
				}
			}
		}
	}
	var points []Point
	for _, device := range compact(devices) {
		for _, g := range gains {
			if v := ratios[place{g.label, device}]; v > 0 {
				points = append(points, Point{Series: device, At: g.label, Y: v})
			}
		}
	}
	if len(points) == 0 {
		return fmt.Errorf("no row compares heddle with another library: run bench lists --peers, engine/bench/peers or bench bitmap first")
	}
	return Chart{Kind: Bars, LogY: true}.SVG(out, "Speed of heddle over other libraries on the same machine", "times as fast", points)
}

// compact returns the distinct strings: devices other than pure Go first.
func compact(all []string) (distinct []string) {
	seen := make(map[string]bool)
	for _, host := range []bool{false, true} {
		for _, s := range all {
			if strings.HasPrefix(s, "pure Go") == host && !seen[s] {
				seen[s] = true
				distinct = append(distinct, s)
			}
		}
	}
	return distinct
}
