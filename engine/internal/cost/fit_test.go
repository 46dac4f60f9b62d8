package cost

import (
	"testing"
)

// TestFit fits a simulated machine whose costs come in steps. The relevant metrics predict it,
// and Best has the smallest error.
func TestFit(t *testing.T) {
	for _, host := range []bool{true, false} {
		m := newMachine(host)
		alone, batches := m.samples(300, 30)
		model := NewBook(1, Best).Model(Host, And)
		c, err := model.Fit(alone, batches)
		if err != nil {
			t.Fatal(err)
		}
		if c.Samples != len(alone) || c.Batches != len(batches) || c.BatchError <= 0 || c.BatchError > 0.25 {
			t.Errorf("host %v: %+v", host, c)
		}
		least := 1.0
		for i, f := range c.Fits {
			if f.Metric != Metrics()[i] || f.Regression.Samples != len(alone) || f.Regression.R2 < 0 || f.Regression.R2 > 1 {
				t.Errorf("%+v", f)
			}
			if f.Corrected > 0.25 || f.Corrected <= 0 || f.Linear <= 0 {
				t.Errorf("host %v, %v: errors %.3f linear, %.3f corrected", host, f.Metric, f.Linear, f.Corrected)
			}
			least = min(least, f.Corrected)
		}
		if e := m.off(model, 1); c.Best().Corrected != least || e > 1.2*least {
			t.Errorf("host %v: the model is off by %.3f, the best fit by %.3f", host, e, least)
		}
		if f := c.fit(Ding); f.Metric != Ding || host && f.Regression.R2 < 0.5 || f.Regression.P > 1e-9 {
			t.Errorf("host %v: %+v", host, f.Regression)
		}
	}
}

// TestFitMetric checks that a model keeps its metric.
func TestFitMetric(t *testing.T) {
	alone, batches := newMachine(true).samples(60, 15)
	for _, want := range []Metric{LOS, UBOCT} {
		model := NewBook(1, want).Model(Host, And)
		if _, err := model.Fit(alone, batches); err != nil {
			t.Fatal(err)
		}
		if got := model.state.Load().alone.metric; got != want {
			t.Errorf("estimates by %v, not %v", got, want)
		}
	}
}

// TestFitFew has too few queries, which is an error and changes nothing, and too few batches,
// which get an estimate. Samples with missing lists yield the cost of a byte.
func TestFitFew(t *testing.T) {
	m := newMachine(true)
	alone, batches := m.samples(minSamples, minSamples-1)
	model := NewBook(1, Best).Model(Host, And)
	before := model.Alone(&alone[0].Queries[0])
	if _, err := model.Fit(alone[1:], nil); err == nil {
		t.Error("a fit of few samples")
	}
	if after := model.Alone(&alone[0].Queries[0]); after != before {
		t.Errorf("%v became %v", before, after)
	}
	c, err := model.Fit(alone, batches)
	if err != nil || c.BatchError != 0 || model.Start() <= 0 {
		t.Errorf("batches are off by %v, start with %v: %v", c.BatchError, model.Start(), err)
	}
	for range 20 {
		f := m.query()
		f.Missing = 1 << 20
		alone = append(alone, Sample{[]Features{f}, m.took(m.alone(&f) + 3*(1<<20))})
	}
	if _, err := model.Fit(alone, nil); err != nil {
		t.Fatal(err)
	}
	if got := model.state.Load().bring.load(); !near(got, 3, 0.1) {
		t.Errorf("a missing byte takes %v ns, want 3", got)
	}
}
