package bench

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// gridColumn of a grid: a head and a text for each place, which may be empty.
type gridColumn struct {
	head string
	text map[string]string
}

// wide is the number of series beyond which a grid leaves shares of the peak out.
const wide = 4

// grid lays a panel out as a table: a row for each place, and for each series
// its median with half the spread, and where there are any, what the paper has,
// in a grid that is not wide, the share of the copy bandwidth, and the ratio to
// the baseline.
func grid(rows string, part []reading) [][]string {
	places := distinct(part, byPlace)
	var columns []gridColumn
	names := distinct(part, bySeries)
	for _, series := range names {
		baseline := ""
		add := func(head string, text func(r reading) string) {
			c := gridColumn{head, make(map[string]string)}
			for _, r := range part {
				if r.series == series {
					c.text[r.at] = text(r)
					baseline = cmp.Or(baseline, r.Baseline)
				}
			}
			if slices.ContainsFunc(places, func(at string) bool { return c.text[at] != "" }) {
				columns = append(columns, c)
			}
		}
		add(series, func(r reading) string { return number(r.Median) + spread(r.Row) })
		add("paper", func(r reading) string { return known(r.paper != 0, number(r.paper)) })
		if len(names) <= wide {
			add("of peak", func(r reading) string { return known(r.PeakFraction > 0, number(100*r.PeakFraction)+" %") })
		}
		add("× "+baseline, func(r reading) string { return known(r.Ratio > 0, number(r.Ratio)) })
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

// number writes three digits or more, without an exponent.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 0.1:
		return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(a))), 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// spread is half the distance of the slowest from the fastest run in percent of
// the median, where there were several.
func spread(r Row) string {
	if r.Runs < 2 || r.Median == 0 {
		return ""
	}
	return fmt.Sprintf(" ±%.0f%%", 50*(r.Max-r.Min)/math.Abs(r.Median))
}

func known(ok bool, text string) string {
	if ok {
		return text
	}
	return ""
}

// print writes the panels of an exhibit as tables.
func (e *exhibit) print(out io.Writer, all []reading) {
	fmt.Fprintln(out, e.heading())
	names, parts := panels(all)
	for _, name := range names {
		fmt.Fprintf(out, "%s, %s\n", name, units(parts[name]))
		t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, line := range grid(e.rows, parts[name]) {
			fmt.Fprintln(t, strings.Join(line, "\t")+"\t")
		}
		t.Flush()
	}
	fmt.Fprintln(out)
}

// units joins those of a panel.
func units(part []reading) string {
	return strings.Join(distinct(part, func(r reading) string { return r.Unit }), ", ")
}
