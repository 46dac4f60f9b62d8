package schedule

import (
	"context"
	"fmt"
	"math"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	costs "heddle/engine/internal/cost"
)

// paperFit is a regression of Table III: R², coefficient in ns, intercept in ms.
type paperFit struct{ r2, coefficient, intercept float64 }

// paperFits is Table III, for the difference of the times.
var paperFits = map[costs.Metric]paperFit{
	costs.LOS:   {0.6312, 18.81, -0.13488},
	costs.UBOC:  {0.7002, 0.3784915, -0.14164},
	costs.UBOCT: {0.0125, 1410, -0.04813},
}

func (s *wuBench) table3() harness.Exhibit {
	return harness.Exhibit{
		Name: "wu-table3", Title: "Regression of times on metrics of a query", Source: "Wu et al. 2010, Table III",
		Found: `With the paper's pair UBOC explains {{one "*segstep and device bs, host less device" "R²" "uboc"}} of the variance and LOS {{one "*segstep and device bs, host less device" "R²" "los"}} (paper {{to (paper (rows "*segstep and device bs, host less device" "R²" "uboc"))}} and {{to (paper (rows "*segstep and device bs, host less device" "R²" "los"))}}); a comparison counts {{one "*segstep and device bs, host less device" "coefficient, ns" "uboc"}} ns ({{to (paper (rows "*segstep and device bs, host less device" "coefficient, ns" "uboc"))}}). The choice by UBOC is right for {{one "*segstep and device bs, choice" "right" "uboc"}} % of the queries and {{one "*segstep and device bs, choice" "right, of the time at stake" "uboc"}} % of the time at stake; always the device is right for {{one "*segstep and device bs, choice" "right" "always the device"}} and {{one "*segstep and device bs, choice" "right, of the time at stake" "always the device"}} %. With auto the choice by UBOC is right for {{one "*auto, choice" "right" "uboc"}} and {{one "*auto, choice" "right, of the time at stake" "uboc"}} %.`,
		Says:  "UBOC explains 70 % of the difference of the times on CPU and GPU, LOS 63 %, UBOCT 1 %; p < 0.0001 everywhere. A query goes to the GPU where the regression on UBOC is positive.",
		Ours: aboutDifference + " The paper's figures stand beside its pair only. Coefficients are nanoseconds a docID (LOS), a comparison (UBOC, UBOCT) or as their line says; logarithms are binary. The times themselves and the features of Ding et al. " +
			"(2009, section 9) are regressed, too. Choices: a regression on the first half of the queries chooses for the second half. The figures are the right choices, their share of the time at stake, " +
			"and the mean time of a query.",
		Data: harness.GovOrder, Rows: "metric",
		Run: func(ctx context.Context) error {
			all, err := s.apart(ctx)
			if err != nil {
				return err
			}
			for _, p := range all {
				if p.onDevice == nil {
					continue
				}
				papers := paperFits
				if p.pair != paperPair {
					papers = nil
				}
				if err := s.putFits(p, p.who, p.pair.String()+", host less device", p.difference(), papers); err != nil {
					return err
				}
				if err := s.putChoices(p); err != nil {
					return err
				}
			}
			return s.putTimes(all)
		},
	}
}

// putTimes regresses the times of each algorithm themselves, on the host and the device.
func (s *wuBench) putTimes(all []*apart) error {
	seen := make(map[string]bool)
	put := func(p *apart, who harness.Contestant, what string, ms []float64) error {
		if ms == nil || seen[what] {
			return nil
		}
		seen[what] = true
		return s.putFits(p, who, what, ms, nil)
	}
	for _, p := range all {
		if err := put(p, p.thread, p.host.String()+", the host's time", p.onHost); err != nil {
			return err
		}
		if err := put(p, p.who, p.device.String()+", the device's time", p.onDevice); err != nil {
			return err
		}
	}
	return nil
}

// putFits regresses y, in ms, on each metric, and records the fits beside the paper's.
func (s *wuBench) putFits(p *apart, who harness.Contestant, what string, y []float64, papers map[costs.Metric]paperFit) error {
	for _, m := range costs.Metrics() {
		fit, err := costs.Regress(m, p.features, y)
		if err != nil {
			return fmt.Errorf("%s on %s: %w", what, m, err)
		}
		put := func(series, at, unit string, v, paper float64) {
			s.PutOf(what, who.On(harness.Reading{Panel: s.Panel(p.who) + ", " + what, Series: series, At: at, Paper: paper,
				Row: measure.Single(v).Into(measure.Row{Metric: series, Unit: unit})}))
		}
		paper := papers[m]
		put("R²", m.String(), "1", fit.R2, paper.r2)
		put("p", m.String(), "1", fit.P, 0)
		put("intercept, ms", m.String(), "ms", fit.Intercept, paper.intercept)
		for i, c := range fit.Coefficients {
			at := m.String()
			if len(fit.Coefficients) > 1 {
				at += ", a " + m.Names()[i]
			}
			put("coefficient, ns", at, "ns", 1e6*c, paper.coefficient)
		}
	}
	return nil
}

// choice is the outcome of a rule that sends queries to the host or the device.
type choice struct {
	right, queries float64
	lost, at       float64 // ms: lost by wrong choices; sum of the differences
	took           float64 // ms of all queries
}

// choose counts one query. The rule sends it to the device if predicted is positive.
func (c *choice) choose(predicted, host, device float64) {
	c.queries++
	c.at += math.Abs(host - device)
	took := host
	if predicted > 0 {
		took = device
	}
	c.took += took
	if took <= min(host, device) {
		c.right++
	} else {
		c.lost += math.Abs(host - device)
	}
}

// putChoices records the choices of each metric for the second half of the queries.
func (s *wuBench) putChoices(p *apart) error {
	difference := p.difference()
	half := len(difference) / 2
	type rule struct {
		name    string
		predict func(i int) float64
	}
	rules := []rule{
		{"always the host", func(int) float64 { return -1 }},
		{"always the device", func(int) float64 { return 1 }},
		{"the faster one", func(i int) float64 { return difference[i] }},
	}
	for _, m := range costs.Metrics() {
		fit, err := costs.Regress(m, p.features[:half], difference[:half])
		if err != nil {
			return fmt.Errorf("half of the differences on %s: %w", m, err)
		}
		rules = append(rules, rule{m.String(), func(i int) float64 { return fit.At(&p.features[i]) }})
	}
	for _, r := range rules {
		var c choice
		for i := half; i < len(difference); i++ {
			c.choose(r.predict(i), p.onHost[i], p.onDevice[i])
		}
		for _, v := range []struct {
			series, unit string
			value        float64
		}{
			{"right", "%", 100 * c.right / c.queries},
			{"right, of the time at stake", "%", 100 * (1 - c.lost/max(c.at, math.SmallestNonzeroFloat64))},
			{"a query, ms", "ms", c.took / c.queries},
		} {
			s.PutOf(p.pair.String()+", choice", p.who.On(harness.Reading{Panel: s.Panel(p.who) + ", " + p.pair.String() + ", choice", Series: v.series, At: r.name,
				Row: measure.Single(v.value).Into(measure.Row{Metric: v.series, Unit: v.unit})}))
		}
	}
	return nil
}
