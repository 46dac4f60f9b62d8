package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/workload"
)

// Exhibit is a table or figure of a paper that is measured again, or a table of our
// own. The name of a paper's table or figure starts with its first author: ao-fig5.
type Exhibit struct {
	Name   string
	Title  string
	Source string // "Ao et al. 2011, Figure 5"; empty for our own
	Says   string // summary of the source's text about it
	Ours   string // differences of our measurement
	// Found is the template of a sentence about the recorded figures beside the paper's, for
	// the page of the papers; see sentence.
	Found string

	// Data selects the collections whose workloads the exhibit needs. nil: it runs once,
	// without a workload.
	Data func(o *Options) []workload.DataSet
	Run  func(ctx context.Context) error

	Rows  string      // name of the first column of its tables: "threshold"
	Chart chart.Chart // the zero value draws nothing
}

// IsFigure reports whether the exhibit is a figure, not a table.
func (e *Exhibit) IsFigure() bool { return strings.Contains(e.Name, "-fig") }

// draws reports whether the exhibit draws a panel. Lines need places on the x axis, which
// summary figures do not have.
func (e *Exhibit) draws(part []Reading) bool {
	return e.Chart.Kind == chart.Bars || e.Chart.Kind == chart.Stacks ||
		e.Chart.Kind == chart.Lines && slices.ContainsFunc(part, func(r Reading) bool { return r.X != 0 })
}

// shown are the readings that a picture can have: published ones with a place on the axes.
func (e *Exhibit) shown(part []Reading) []Reading {
	return slices.DeleteFunc(slices.Clone(part), func(x Reading) bool { return !published(x.Row) || e.Chart.LogY && x.Median <= 0 })
}

// Heading names the exhibit and its source.
func (e *Exhibit) Heading() string {
	if e.Source == "" {
		return e.Name + ": " + e.Title
	}
	return e.Name + ": " + e.Title + " (" + e.Source + ")"
}

// AllOrders selects GOV in every measured order.
func AllOrders(o *Options) []workload.DataSet { return o.gov(o.Orders...) }

// FirstOrder selects one order, for exhibits that do not depend on it.
func FirstOrder(o *Options) []workload.DataSet { return o.gov(o.Orders[0]) }

// GovOrder selects the order that stands for the GOV collection, for exhibits that
// the paper shows for GOV alone.
func GovOrder(o *Options) []workload.DataSet {
	if slices.Contains(o.Orders, workload.Clustered) {
		return o.gov(workload.Clustered)
	}
	return FirstOrder(o)
}

func (o *Options) gov(orders ...workload.Order) (all []workload.DataSet) {
	for _, order := range orders {
		all = append(all, order.GOV(o.GOVDocs))
	}
	return all
}

// DataSets are the collections of Ao et al., only the small ones if short.
func DataSets(o *Options) (all []workload.DataSet) {
	for _, d := range workload.DataSets() {
		if d = d.Scaled(o.GOVDocs); !o.Short || d.Docs <= o.GOVDocs {
			all = append(all, d)
		}
	}
	return all
}

// OrderedSets selects the wanted collections of Ao et al. in every measured order.
func OrderedSets(o *Options) []workload.DataSet {
	return slices.DeleteFunc(DataSets(o), func(d workload.DataSet) bool {
		return !slices.Contains(o.Orders, d.Order) || len(o.Sets) > 0 && !slices.Contains(o.Sets, d.Name)
	})
}

// choose returns the named exhibits in their own order, or all of them if no name
// is given.
func choose(all []Exhibit, figures, tables []string) (chosen []Exhibit, err error) {
	wanted := make(map[string]bool)
	for _, kind := range []struct {
		name   string
		figure bool
		words  []string
	}{{"figure", true, figures}, {"table", false, tables}} {
		var names []string
		for i := range all {
			if all[i].IsFigure() == kind.figure {
				names = append(names, all[i].Name)
			}
		}
		for _, w := range kind.words {
			w = strings.ToLower(strings.TrimSpace(w))
			if !slices.Contains(names, w) {
				return nil, fmt.Errorf("unknown %s %q (one of %s)", kind.name, w, strings.Join(names, ", "))
			}
			wanted[w] = true
		}
	}
	for _, e := range all {
		if len(wanted) == 0 || wanted[e.Name] {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}
