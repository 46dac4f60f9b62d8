package bench

import (
	"slices"
	"strings"
)

// reading is one measured figure and its place in an exhibit. The row says what
// was measured; Bench, Workload and Row are filled in where they are empty.
type reading struct {
	panel  string  // a plot, or a table, of its own
	series string  // a line of the plot, a column of the table
	at     string  // a row of the table, a tick of the plot where these have names
	x      float64 // place on the axis
	paper  float64 // what the paper has there; 0 where it states nothing
	Row
}

// put records a reading of the exhibit at hand: as a row at once, in tables,
// figures and report later.
func (s *session) put(r reading) error {
	r.Bench = s.bench
	if r.Row.Row == "" {
		r.Row.Row = strings.Join([]string{s.now.name, r.series, s.now.rows, r.at}, " ")
	}
	if r.Workload == "" {
		r.Workload = r.panel
		if s.w != nil {
			r.Workload = s.w.Name()
		}
	}
	s.readings[s.now.name] = append(s.readings[s.now.name], r)
	return s.rows.write(r.Row)
}

// panels splits readings by their panels, in the order of their first ones.
func panels(all []reading) (names []string, parts map[string][]reading) {
	parts = make(map[string][]reading)
	for _, r := range all {
		if !slices.Contains(names, r.panel) {
			names = append(names, r.panel)
		}
		parts[r.panel] = append(parts[r.panel], r)
	}
	return names, parts
}

// distinct lists what key gives of the readings, in the order of the first ones.
func distinct(part []reading, key func(r reading) string) (names []string) {
	for _, r := range part {
		if k := key(r); !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	return names
}

func bySeries(r reading) string { return r.series }
func byPlace(r reading) string  { return r.at }
