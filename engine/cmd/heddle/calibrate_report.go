package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"heddle/engine"
	"heddle/engine/internal/cost"
)

// costReport is the answer of calibrate; its JSON names are part of the contract.
type costReport struct {
	Index string     `json:"index"`
	Costs string     `json:"costs"` // the file that was written
	Kinds []kindCost `json:"kinds"`
}

type kindCost struct {
	Kind        string           `json:"kind"`
	Processors  []processorCost  `json:"processors"`
	Differences []differenceCost `json:"differences"`
}

type processorCost struct {
	Processor  string       `json:"processor"`
	Queries    int          `json:"queries"`
	Batches    int          `json:"batches"`
	BatchError float64      `json:"batch_error"`
	Metrics    []metricCost `json:"metrics"`
}

// metricCost is a regression of milliseconds on a metric.
type metricCost struct {
	Metric       string             `json:"metric"`
	InUse        bool               `json:"in_use,omitempty"` // estimates go by it
	R2           float64            `json:"r2"`
	P            float64            `json:"p"`
	Intercept    float64            `json:"intercept_ms"`
	Coefficients map[string]float64 `json:"coefficients_ms"` // for each of what it counts
	// Of one processor: mean relative errors, of costs linear in the metric and of
	// estimates.
	Linear    float64 `json:"linear_error,omitempty"`
	Corrected float64 `json:"corrected_error,omitempty"`
	// Of a difference: from which value of the metric on the second processor is faster.
	From *float64 `json:"from,omitempty"`

	names []string // of the coefficients, in order
}

type differenceCost struct {
	Slow    string       `json:"slow"` // less
	Fast    string       `json:"fast"`
	Queries int          `json:"queries"`
	Faster  float64      `json:"faster"` // share of the queries that take less on fast
	Saved   float64      `json:"saved"`  // share of the time on slow that those save there
	Metrics []metricCost `json:"metrics"`
}

// describeCosts shows one metric, or all of them for cost.Best.
func describeCosts(index, costs string, metric cost.Metric, found []engine.KindCosts) *costReport {
	r := &costReport{Index: index, Costs: costs}
	shown := func(m cost.Metric) bool { return metric == cost.Best || m == metric }
	for _, f := range found {
		k := kindCost{Kind: f.Kind.String(), Differences: []differenceCost{}}
		for _, p := range f.Processors {
			c := processorCost{Processor: p.Processor, Queries: p.Samples, Batches: p.Batches, BatchError: p.BatchError}
			for i := range p.Fits {
				if fit := &p.Fits[i]; shown(fit.Metric) {
					m := describeRegression(&fit.Regression)
					m.InUse = fit.Metric == metric || metric == cost.Best && fit == p.Best()
					m.Linear, m.Corrected = fit.Linear, fit.Corrected
					c.Metrics = append(c.Metrics, m)
				}
			}
			k.Processors = append(k.Processors, c)
		}
		for _, d := range f.Differences {
			c := differenceCost{Slow: d.Slow, Fast: d.Fast, Queries: d.Queries, Faster: d.Faster, Saved: d.Saved}
			for i := range d.Regressions {
				if g := &d.Regressions[i]; shown(g.Metric) {
					m := describeRegression(g)
					if len(g.Coefficients) == 1 && g.Coefficients[0] > 0 {
						from := max(0, -g.Intercept/g.Coefficients[0])
						m.From = &from
					}
					c.Metrics = append(c.Metrics, m)
				}
			}
			k.Differences = append(k.Differences, c)
		}
		r.Kinds = append(r.Kinds, k)
	}
	return r
}

func describeRegression(r *cost.Regression) metricCost {
	m := metricCost{Metric: r.Metric.String(), R2: r.R2, P: r.P, Intercept: r.Intercept, Coefficients: map[string]float64{}, names: r.Metric.Names()}
	for i, name := range m.names {
		m.Coefficients[name] = r.Coefficients[i]
	}
	return m
}

func (r *costReport) write(out io.Writer) error {
	var b strings.Builder
	for _, k := range r.Kinds {
		for _, p := range k.Processors {
			fmt.Fprintf(&b, "%s on %s: milliseconds of %d queries alone\n", k.Kind, p.Processor, p.Queries)
			writeMetrics(&b, p.Metrics, "linear error\terror", func(m *metricCost) string {
				return fmt.Sprintf("%.1f %%\t%.1f %%", 100*m.Linear, 100*m.Corrected)
			})
			if p.Batches > 0 {
				fmt.Fprintf(&b, "%d batches: error %.1f %%\n", p.Batches, 100*p.BatchError)
			}
			b.WriteByte('\n')
		}
		for _, d := range k.Differences {
			fmt.Fprintf(&b, "%s on %s, less those on %s: milliseconds of %d queries alone\n", k.Kind, d.Slow, d.Fast, d.Queries)
			writeMetrics(&b, d.Metrics, "the latter is faster", func(m *metricCost) string {
				if m.From == nil {
					return ""
				}
				return fmt.Sprintf("from %.4g on", *m.From)
			})
			fmt.Fprintf(&b, "the latter is faster for %.1f %% of them, which saves %.1f %% of the time of all\n\n", 100*d.Faster, 100*d.Saved)
		}
	}
	fmt.Fprintf(&b, "written to %s\n", r.Costs)
	_, err := io.WriteString(out, b.String())
	return err
}

// writeMetrics writes a table like Table III of Wu et al. 2010, with columns of its own at
// the end. Each coefficient behind the first has a line.
func writeMetrics(out io.Writer, metrics []metricCost, last string, columns func(m *metricCost) string) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  metric\tR²\tp\tintercept\t%s\tcoefficient\n", last)
	for i := range metrics {
		m := &metrics[i]
		star := " "
		if m.InUse {
			star = "*"
		}
		fmt.Fprintf(w, "%s %s\t%.4f\t%s\t%.5g\t%s\t", star, m.Metric, m.R2, probability(m.P), m.Intercept, columns(m))
		for j, name := range m.names {
			if j > 0 {
				fmt.Fprint(w, "\t\t\t\t"+strings.Repeat("\t", 1+strings.Count(last, "\t")))
			}
			fmt.Fprintf(w, "%.4g a %s\n", m.Coefficients[name], name)
		}
	}
	w.Flush()
}

func probability(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
