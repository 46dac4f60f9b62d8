package harness

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"heddle/engine/bench/measure"
)

// Reading is one measured figure and its place in an exhibit. Put fills the fields
// Bench, Workload and Row of its row if they are empty.
type Reading struct {
	Panel  string  // a table or plot of its own
	Series string  // a column of the table, a line of the plot
	At     string  // a row of the table, a tick of the plot if ticks have names
	X      float64 // place on the x axis
	Paper  float64 // figure in the paper; 0 if the paper states none
	measure.Row
}

// Put records a reading of the exhibit that runs: it writes the row at once and
// keeps the reading for tables, pictures and the report. After a failed write the
// exhibit ends with its error.
func (r *Runner) Put(x Reading) {
	x.Bench = r.family.Name
	if x.Row.Row == "" {
		x.Row.Row = strings.Join([]string{r.now.Name, x.Series, r.now.Rows, x.At}, " ")
	}
	if x.Workload == "" {
		x.Workload = x.Panel
		if r.workload != "" {
			x.Workload = r.workload
		}
	}
	x.Place = &measure.Place{Exhibit: r.now.Name, Panel: x.Panel, Series: x.Series, At: x.At, X: x.X, Paper: x.Paper}
	r.readings[r.now.Name] = append(r.readings[r.now.Name], x)
	r.unwritten = cmp.Or(r.unwritten, r.rows.Write(x.Row))
}

// PutOf records a reading of an exhibit whose panels have the same series and
// places: the name of the row includes the subject of the panel.
func (r *Runner) PutOf(subject string, x Reading) {
	x.Row.Row = strings.Join([]string{r.now.Name, subject, x.Series, r.now.Rows, x.At}, " ")
	r.Put(x)
}

// Measured returns the readings of the exhibit that runs.
func (r *Runner) Measured() []Reading { return r.readings[r.now.Name] }

// Timed times f, which it repeats: microseconds per call.
func (r *Runner) Timed(f func() error) (measure.Summary, error) {
	return measure.Repeat(r.Opt.Runs, r.LeastTime(), f)
}

// LeastTime is the shortest time for which something is repeated.
func (r *Runner) LeastTime() time.Duration {
	if r.Opt.Short {
		return measure.LeastTime / 10
	}
	return measure.LeastTime
}

// panels groups readings by panel, in the order of first appearance.
func panels(all []Reading) (names []string, parts map[string][]Reading) {
	parts = make(map[string][]Reading)
	for _, x := range all {
		parts[x.Panel] = append(parts[x.Panel], x)
	}
	return Distinct(all, ByPanel), parts
}

// Distinct returns the distinct keys of the readings, in the order of first
// appearance.
func Distinct(part []Reading, key func(x Reading) string) (names []string) {
	for _, x := range part {
		if k := key(x); !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	return names
}

// ByPanel, BySeries and ByPlace are keys for Distinct.
func ByPanel(x Reading) string  { return x.Panel }
func BySeries(x Reading) string { return x.Series }
func byPlace(x Reading) string  { return x.At }
