package harness

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"heddle/engine/bench/measure"
)

// gridColumn is a column of a grid: a head, and a text for each place, which may be
// empty.
type gridColumn struct {
	head string
	text map[string]string
}

// wide is the largest number of series for which a grid shows fractions of the peak.
const wide = 4

// grid formats a panel as a table with one row for each place. Each series has a column
// with the median and half the spread. Columns for the paper's figure, the ratio to it, as it
// stands and per bandwidth of memory, the fraction of the copy bandwidth (unless the grid is
// wide) and the ratio to the baseline follow if there are any.
func grid(rows string, part []Reading, paper card) [][]string {
	places := Distinct(part, byPlace)
	var columns []gridColumn
	names := Distinct(part, BySeries)
	for _, series := range names {
		baseline := ""
		add := func(head string, text func(r Reading) string) {
			c := gridColumn{head, make(map[string]string)}
			for _, r := range part {
				if r.Series == series {
					c.text[r.At] = text(r)
					baseline = cmp.Or(baseline, r.Baseline)
				}
			}
			if slices.ContainsFunc(places, func(at string) bool { return c.text[at] != "" }) {
				columns = append(columns, c)
			}
		}
		add(series, func(r Reading) string {
			if !published(r.Row) {
				return fmt.Sprintf("not published: spread %.0f %%", spreadOf(r.Row))
			}
			return measure.Number(r.Median) + spread(r.Row)
		})
		add("paper", func(r Reading) string { return measure.When(r.Paper != 0, measure.Number(r.Paper)) })
		add("÷ paper", func(r Reading) string {
			return measure.When(r.Paper != 0 && published(r.Row), measure.Number(r.Median/r.Paper))
		})
		add("÷ paper per bandwidth", func(r Reading) string {
			f := paper.perBandwidth(r)
			return measure.When(f != 0 && r.Paper != 0 && published(r.Row), measure.Number(f*r.Median/r.Paper))
		})
		if len(names) <= wide {
			add("of peak", func(r Reading) string {
				return measure.When(r.PeakFraction > 0, measure.Number(100*r.PeakFraction)+" %")
			})
		}
		add("× "+baseline, func(r Reading) string { return measure.When(r.Ratio > 0, measure.Number(r.Ratio)) })
	}
	lines := [][]string{{rows}}
	for _, c := range columns {
		lines[0] = append(lines[0], c.head)
	}
	for _, at := range places {
		line := []string{at}
		for _, c := range columns {
			line = append(line, c.text[at])
		}
		lines = append(lines, line)
	}
	return lines
}

// greatestSpread is the greatest spread in percent of a published figure.
const greatestSpread = 50

// spreadOf returns half the difference between the slowest and the fastest run in percent of
// the median, 0 for a single run.
func spreadOf(r measure.Row) float64 {
	if r.Runs < 2 || r.Median == 0 {
		return 0
	}
	return 50 * (r.Max - r.Min) / math.Abs(r.Median)
}

// published reports whether the spread of a figure allows to publish it.
func published(r measure.Row) bool { return spreadOf(r) <= greatestSpread }

// spread returns half the difference between the slowest and the fastest run in percent
// of the median. It is empty for a single run.
func spread(r measure.Row) string {
	if r.Runs < 2 || r.Median == 0 {
		return ""
	}
	return fmt.Sprintf(" ±%.0f%%", spreadOf(r))
}

// print writes the panels of an exhibit as tables.
func (e *Exhibit) print(out io.Writer, all []Reading) {
	fmt.Fprintln(out, e.Heading())
	names, parts := panels(all)
	for _, name := range names {
		fmt.Fprintf(out, "%s, %s\n", name, units(parts[name]))
		t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, line := range grid(e.Rows, parts[name], e.card()) {
			fmt.Fprintln(t, strings.Join(line, "\t")+"\t")
		}
		t.Flush()
	}
	fmt.Fprintln(out)
}

// units joins the units of a panel.
func units(part []Reading) string {
	return strings.Join(Distinct(part, func(r Reading) string { return r.Unit }), ", ")
}
