package load

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/measure"
	"heddle/engine/file/auxiliary"
)

// Table prints levels as they come, a line each.
type Table struct {
	w     io.Writer
	begun bool
}

// NewTable returns a table on w.
func NewTable(w io.Writer) *Table { return &Table{w: w} }

// columns are the widths of a table.
const columns = "%10s %10s  %8s %8s %8s %8s  %8s %8s  %8s %8s  %8s  %s\n"

// Add prints a level.
func (t *Table) Add(l *Level) error {
	if !t.begun {
		t.begun = true
		_, err := fmt.Fprintf(t.w, "%21s  %35s  %17s  %17s\n"+columns, "queries/s", "latency, ms", "server, ms", "queued, ms",
			"sent", "answered", "p50", "p99", "p99.9", "max", "p50", "p99", "p50", "p99", "late, ms", "verdict")
		if err != nil {
			return err
		}
	}
	n := measure.Number
	_, err := fmt.Fprintf(t.w, columns, n(l.Rate), n(l.Throughput), n(l.Latency.P50), n(l.Latency.P99), n(l.Latency.P999), n(l.Latency.Max),
		n(l.Server.P50), n(l.Server.P99), n(l.Queued.P50), n(l.Queued.P99), n(l.Late), l.verdict())
	return err
}

// verdict is a remark in words.
func (l *Level) verdict() string {
	words := []string{"holds"}
	switch {
	case l.Limited:
		words[0] = "unknown: load was late"
	case !l.Held:
		words[0] = "does not hold"
	}
	if len(l.Errors) > 0 {
		words = append(words, errorsText(l.Errors))
	}
	return strings.Join(words, ", ")
}

// Limited reports whether the capacity that a sweep has found is bounded by load itself: so is the lowest rate above
// it that the server did not sustain.
func Limited(levels []*Level, capacity float64) bool {
	var least *Level
	for _, l := range levels {
		if !l.Held && l.Rate > capacity && (least == nil || l.Rate < least.Rate) {
			least = l
		}
	}
	return least != nil && least.Limited
}

// errorsText lists errors, the most frequent first.
func errorsText(errors map[string]int) string {
	codes := slices.SortedFunc(maps.Keys(errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(errors[b], errors[a]), cmp.Compare(a, b))
	})
	for i, code := range codes {
		codes[i] = fmt.Sprintf("%d %s", errors[code], code)
	}
	return strings.Join(codes, ", ")
}

// Plot draws the latencies of levels over the rate into an SVG file.
func Plot(path, title string, levels []*Level) error {
	levels = slices.SortedFunc(slices.Values(levels), func(a, b *Level) int { return cmp.Compare(a.Rate, b.Rate) })
	var points []chart.Point
	for _, line := range []struct {
		name string
		of   func(*Level) float64
	}{
		{"p50", func(l *Level) float64 { return l.Latency.P50 }},
		{"p99", func(l *Level) float64 { return l.Latency.P99 }},
		{"p99.9", func(l *Level) float64 { return l.Latency.P999 }},
		{"server p50", func(l *Level) float64 { return l.Server.P50 }},
		{"server p99", func(l *Level) float64 { return l.Server.P99 }},
		{"queued p99", func(l *Level) float64 { return l.Queued.P99 }},
	} {
		for _, l := range levels {
			if y := line.of(l); y > 0 { // the axis is logarithmic
				points = append(points, chart.Point{Series: line.name, X: l.Rate, Y: y})
			}
		}
	}
	var svg bytes.Buffer
	c := chart.Chart{Kind: chart.Lines, X: "queries per second", LogX: true, LogY: true, Tens: true}
	if err := c.SVG(&svg, title, "latency, ms", points); err != nil {
		return err
	}
	return auxiliary.Replace(path, svg.Bytes())
}
