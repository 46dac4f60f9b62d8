package cost

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Sample is queries that ran together and what that took, or one query that ran alone.
type Sample struct {
	Queries []Features
	Took    time.Duration
}

// Fit is how well a metric explains what queries take alone, and predicts it. Errors are
// means of |predicted - real| / real over a third of the samples, by a fit to the others.
type Fit struct {
	Metric Metric
	// Regression is of milliseconds, by ordinary least squares.
	Regression Regression
	// Linear is the error of costs that are linear in the metric's values, none negative;
	// Corrected that of estimates, which factors correct by the size of each feature.
	Linear, Corrected float64

	alone *curve
}

// Calibration is what a Model was fitted to, and how well.
type Calibration struct {
	Samples, Batches int
	Fits             []Fit // of all Metrics
	// BatchError is that of estimates of batches, as those of Fit; 0 without batches. What
	// queries add is always estimated from the features of Ding.
	BatchError float64
}

// Best is the fit with the least error of estimates.
func (c *Calibration) Best() *Fit {
	best := &c.Fits[0]
	for i := range c.Fits {
		if c.Fits[i].Corrected < best.Corrected {
			best = &c.Fits[i]
		}
	}
	return best
}

// fit is that of a metric, or the best.
func (c *Calibration) fit(m Metric) *Fit {
	for i := range c.Fits {
		if c.Fits[i].Metric == m {
			return &c.Fits[i]
		}
	}
	return c.Best()
}

// Fit fits every metric to queries that ran alone and goes on with the one that the Model
// is for, and fits what queries add to batches, if there are any. Samples with Missing
// bytes say what it takes to bring those in. The error says that there are too few
// samples.
func (m *Model) Fit(alone, batches []Sample) (*Calibration, error) {
	var here, brought []Sample
	for _, s := range alone {
		if s.Queries[0].Missing > 0 {
			brought = append(brought, s)
		} else {
			here = append(here, s)
		}
	}
	if len(here) < minSamples {
		return nil, fmt.Errorf("cost: %d samples of queries, at least %d are needed", len(here), minSamples)
	}
	c := &Calibration{Samples: len(alone), Batches: len(batches)}
	for _, metric := range Metrics() {
		f, err := fitMetric(metric, m.kind, here)
		if err != nil {
			return nil, err
		}
		c.Fits = append(c.Fits, f)
	}
	best := c.fit(m.metric).alone
	s := &state{alone: best}
	s.bring.store(fitBring(best, brought))
	if len(batches) >= minSamples {
		var start float64
		s.added, start, c.BatchError = fitBatches(m.kind, c.fit(Ding).alone, batches)
		s.start.store(start)
	} else { // half of what every query takes is shared
		s.added = c.fit(Ding).alone.copy()
		s.added.costs[0] /= 2
		s.start.store(s.added.costs[0])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.use(c, s)
	return c, nil
}

// minSamples is how many a fit takes.
const minSamples = 12

// use goes on with what calibration has found.
func (m *Model) use(c *Calibration, s *state) {
	m.calibration = c
	m.alone.know(c.fit(m.metric).Corrected)
	m.batches.know(c.BatchError)
	m.state.Store(s)
}

func fitMetric(metric Metric, k Kind, alone []Sample) (f Fit, err error) {
	f.Metric = metric
	fs, ms := make([]Features, len(alone)), make([]float64, len(alone))
	for i, s := range alone {
		fs[i], ms[i] = s.Queries[0], s.Took.Seconds()*1e3
	}
	if f.Regression, err = Regress(metric, fs, ms); err != nil {
		return f, err
	}
	some, others := deal(alone)
	c, _ := fitCurve(metric, k, some, false)
	f.Corrected = meanError(c, 0, others)
	f.Linear = meanError(&curve{metric: metric, costs: c.costs}, 0, others)
	f.alone, _ = fitCurve(metric, k, alone, false)
	return f, nil
}

// deal gives two of three samples, and the others, drawn: samples may come in an order.
func deal(all []Sample) (some, others []Sample) {
	for i, at := range rand.New(rand.NewPCG(1, 0)).Perm(len(all)) {
		if i%3 == 2 {
			others = append(others, all[at])
		} else {
			some = append(some, all[at])
		}
	}
	return some, others
}

// fitCurve fits a curve, and with started what a sample takes beside.
func fitCurve(m Metric, k Kind, samples []Sample, started bool) (c *curve, start float64) {
	rows, seconds := make([][]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		row := make([]float64, 2+maxValues)
		if started {
			row[0] = 1
		}
		row[1] = float64(len(s.Queries))
		for q := range s.Queries {
			for j, v := range m.values(&s.Queries[q]) {
				row[2+j] += v
			}
		}
		rows[i], seconds[i] = row, s.Took.Seconds()
	}
	costs := NonNegative(rows, seconds)
	c = &curve{metric: m, split: k.split()}
	for i, x := range costs[1:] {
		c.costs[i] = x * 1e9
	}
	start = costs[0] * 1e9
	if c.costs == [1 + maxValues]float64{} { // samples that say nothing of queries
		c.costs[0] = 1
	}
	c.train(samples, start)
	return c, start
}

// fitBatches fits what queries add, from nothing or from what they take alone: the shape
// of that is known better, but on some backends it is another one. It returns the one of
// less error.
func fitBatches(k Kind, alone *curve, batches []Sample) (added *curve, start, e float64) {
	some, others := deal(batches)
	anew, first := fitCurve(Ding, k, some, true)
	scaled, second := fitScaled(alone, some)
	e, other := meanError(anew, first, others), meanError(scaled, second, others)
	if e < other {
		added, start = fitCurve(Ding, k, batches, true)
		return added, start, e
	}
	added, start = fitScaled(alone, batches)
	return added, start, other
}

// fitScaled fits a part of a curve to samples, and what they take beside.
func fitScaled(whole *curve, samples []Sample) (c *curve, start float64) {
	rows, seconds := make([][]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		rows[i], seconds[i] = []float64{1e-6, whole.sum(s.Queries) * 1e-9}, s.Took.Seconds()
	}
	costs := NonNegative(rows, seconds)
	c = whole.copy()
	for i := range c.costs {
		c.costs[i] *= max(costs[1], 1e-6)
	}
	start = costs[0] * 1e3
	c.train(samples, start)
	return c, start
}

// train moves the factors of c to what samples say.
func (c *curve) train(samples []Sample, start float64) {
	const rounds = 20
	for round := range rounds {
		rate := 0.3 / (1 + float64(round)/3)
		for _, s := range samples {
			c.approach(s, start, rate)
		}
	}
}

// approach moves c to what a sample says.
func (c *curve) approach(s Sample, start, rate float64) {
	const limit = 0.3
	whole := max(c.sum(s.Queries)+start, 1)
	step := rate * max(-limit, min(limit, math.Log(max(float64(s.Took), 1)/whole)))
	for q := range s.Queries {
		f := &s.Queries[q]
		c.move(f, step*c.time(f)/whole)
	}
}

// sum is the time of queries.
func (c *curve) sum(fs []Features) (ns float64) {
	for i := range fs {
		ns += c.time(&fs[i])
	}
	return ns
}

// meanError is relative.
func meanError(c *curve, start float64, samples []Sample) (e float64) {
	for _, s := range samples {
		took := max(float64(s.Took), 1)
		e += math.Abs(c.sum(s.Queries)+start-took) / took / float64(len(samples))
	}
	return e
}

// fitBring is the median of what a missing byte took.
func fitBring(c *curve, brought []Sample) float64 {
	var each []float64
	for _, s := range brought {
		if rest := float64(s.Took) - c.sum(s.Queries); rest > 0 {
			each = append(each, rest/float64(s.Queries[0].Missing))
		}
	}
	if len(each) == 0 {
		return guessBring
	}
	slices.Sort(each)
	return each[len(each)/2]
}
