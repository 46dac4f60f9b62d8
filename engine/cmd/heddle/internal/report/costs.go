package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"heddle/engine/observe"
)

// Costs describes a calibration of the cost model.
type Costs struct {
	Index string      `json:"index"`
	Costs string      `json:"costs"` // path of the cost model file
	Kinds []KindCosts `json:"kinds"`
}

// KindCosts describes the models of one kind of query.
type KindCosts struct {
	Kind        string            `json:"kind"`
	Processors  []ProcessorCosts  `json:"processors"`
	Differences []DifferenceCosts `json:"differences"`
}

// ProcessorCosts describes the model of one processor.
type ProcessorCosts struct {
	Processor  string        `json:"processor"`
	Queries    int           `json:"queries"`
	Batches    int           `json:"batches"`
	BatchError float64       `json:"batch_error"`
	Metrics    []MetricCosts `json:"metrics"`
}

// MetricCosts is a regression of milliseconds on a metric.
type MetricCosts struct {
	Metric       string             `json:"metric"`
	InUse        bool               `json:"in_use,omitempty"` // the scheduler uses this metric
	R2           float64            `json:"r2"`
	P            float64            `json:"p"`
	Intercept    float64            `json:"intercept_ms"`
	Coefficients map[string]float64 `json:"coefficients_ms"` // by feature
	// Mean relative errors of the linear regression and of the corrected estimates, for
	// the model of one processor.
	Linear    float64 `json:"linear_error,omitempty"`
	Corrected float64 `json:"corrected_error,omitempty"`
	// Value of the metric from which the second processor is faster, for a difference.
	From *float64 `json:"from,omitempty"`

	names []string // names of the features, in order
}

// DifferenceCosts compares two processors on the same queries, each alone.
type DifferenceCosts struct {
	Slow    string        `json:"slow"` // its time less the time on Fast
	Fast    string        `json:"fast"`
	Queries int           `json:"queries"`
	Faster  float64       `json:"faster"` // fraction of queries that are faster on Fast
	Saved   float64       `json:"saved"`  // fraction of the time on Slow that these queries save
	Metrics []MetricCosts `json:"metrics"`
}

// best stands for the metric with the best estimates.
const best = "best"

// NewCosts describes the calibration found of an index with one metric, or with all metrics for
// "best". Costs is the path of the cost model file.
func NewCosts(index, costs string, metric string, found []observe.KindCosts) *Costs {
	r := &Costs{Index: index, Costs: costs}
	shown := func(m string) bool { return metric == best || m == metric }
	for _, f := range found {
		k := KindCosts{Kind: f.Kind, Differences: []DifferenceCosts{}}
		for _, p := range f.Processors {
			c := ProcessorCosts{Processor: p.Processor, Queries: p.Queries, Batches: p.Batches, BatchError: p.BatchError}
			for i := range p.Fits {
				if fit := &p.Fits[i]; shown(fit.Metric) {
					m := newMetric(&fit.Regression)
					m.InUse = fit.Metric == metric || metric == best && fit.Metric == p.Best
					m.Linear, m.Corrected = fit.Linear, fit.Corrected
					c.Metrics = append(c.Metrics, m)
				}
			}
			k.Processors = append(k.Processors, c)
		}
		for _, d := range f.Differences {
			c := DifferenceCosts{Slow: d.Slow, Fast: d.Fast, Queries: d.Queries, Faster: d.Faster, Saved: d.Saved}
			for i := range d.Regressions {
				if g := &d.Regressions[i]; shown(g.Metric) {
					m := newMetric(g)
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

func newMetric(r *observe.Regression) MetricCosts {
	m := MetricCosts{Metric: r.Metric, R2: r.R2, P: r.P, Intercept: r.Intercept, Coefficients: map[string]float64{}, names: r.Features}
	for i, name := range m.names {
		m.Coefficients[name] = r.Coefficients[i]
	}
	return m
}

// Write writes the description as text.
func (r *Costs) Write(out io.Writer) error {
	var b strings.Builder
	for _, k := range r.Kinds {
		for _, p := range k.Processors {
			fmt.Fprintf(&b, "%s on %s: milliseconds per query, %d single queries\n", k.Kind, p.Processor, p.Queries)
			writeMetrics(&b, p.Metrics, "linear error\terror", func(m *MetricCosts) string {
				return fmt.Sprintf("%.1f %%\t%.1f %%", 100*m.Linear, 100*m.Corrected)
			})
			if p.Batches > 0 {
				fmt.Fprintf(&b, "%d batches: error %.1f %%\n", p.Batches, 100*p.BatchError)
			}
			b.WriteByte('\n')
		}
		for _, d := range k.Differences {
			fmt.Fprintf(&b, "%s: milliseconds per query on %s minus on %s, %d single queries\n", k.Kind, d.Slow, d.Fast, d.Queries)
			writeMetrics(&b, d.Metrics, "second is faster", func(m *MetricCosts) string {
				if m.From == nil {
					return ""
				}
				return fmt.Sprintf("from %.4g", *m.From)
			})
			fmt.Fprintf(&b, "%s is faster for %.1f %% of the queries, which saves %.1f %% of the total time\n\n", d.Fast, 100*d.Faster, 100*d.Saved)
		}
	}
	fmt.Fprintf(&b, "written to %s\n", r.Costs)
	_, err := io.WriteString(out, b.String())
	return err
}

// writeMetrics writes a table like Table III of Wu et al. 2010. Each coefficient has a
// line. Parameter last names the additional columns, and columns prints them.
func writeMetrics(out io.Writer, metrics []MetricCosts, last string, columns func(m *MetricCosts) string) {
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
			fmt.Fprintf(w, "%.4g per %s\n", m.Coefficients[name], name)
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
