package cost

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Sample is the run time of a batch of queries, or of one query alone.
type Sample struct {
	Queries []Features
	Took    time.Duration
}

// Fit tells how well a metric explains and predicts the times of single queries. Errors are
// means of |predicted - real| / real over a third of the samples, after a fit to the other
// two thirds.
type Fit struct {
	Metric Metric
	// Regression of milliseconds, by ordinary least squares.
	Regression Regression
	// Linear is the error of the linear part alone, Corrected the error with the factors.
	Linear, Corrected float64

	alone *curve
}

// Calibration describes the samples and the quality of a fit.
type Calibration struct {
	Samples, Batches int
	Fits             []Fit // one for each of Metrics
	// BatchError is the error of estimates of batches, measured as in Fit; 0 without batches.
	// Added always uses the features of Ding.
	BatchError float64
}

// Best returns the fit with the smallest error Corrected.
func (c *Calibration) Best() *Fit {
	best := &c.Fits[0]
	for i := range c.Fits {
		if c.Fits[i].Corrected < best.Corrected {
			best = &c.Fits[i]
		}
	}
	return best
}

// fit returns the fit of a metric, or Best.
func (c *Calibration) fit(m Metric) *Fit {
	for i := range c.Fits {
		if c.Fits[i].Metric == m {
			return &c.Fits[i]
		}
	}
	return c.Best()
}

// Fit fits every metric to queries that ran alone, and the additions to batches if there are
// enough batches. The model then estimates by its own metric. Samples with Missing bytes
// yield the cost of loading a byte. The error gives the number of samples that are needed.
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
	} else { // queries of a batch share half of their fixed cost
		s.added = c.fit(Ding).alone.copy()
		s.added.costs[0] /= 2
		s.start.store(s.added.costs[0])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.use(c, s)
	return c, nil
}

// minSamples is the smallest number of samples of a fit.
const minSamples = 12

// use makes s the state after a calibration.
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

// deal splits samples at random into two thirds and one third; their order may matter.
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

// fitCurve fits a curve, and with started the fixed cost of a sample.
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
	if c.costs == [1 + maxValues]float64{} { // samples without queries
		c.costs[0] = 1
	}
	c.train(samples, start)
	return c, start
}

// fitBatches fits the additions of queries to batches: once from scratch, and once as a
// multiple of the curve of single queries, whose shape is known better. It returns the fit
// with the smaller error.
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

// fitScaled fits a multiple of a curve and a fixed cost to samples.
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

// train moves the factors of c towards the samples.
func (c *curve) train(samples []Sample, start float64) {
	const rounds = 20
	for round := range rounds {
		rate := 0.3 / (1 + float64(round)/3)
		for _, s := range samples {
			c.approach(s, start, rate)
		}
	}
}

// approach moves the factors of c towards one sample.
func (c *curve) approach(s Sample, start, rate float64) {
	const limit = 0.3
	whole := max(c.sum(s.Queries)+start, 1)
	step := rate * max(-limit, min(limit, math.Log(max(float64(s.Took), 1)/whole)))
	for q := range s.Queries {
		f := &s.Queries[q]
		c.move(f, step*c.time(f)/whole)
	}
}

// sum returns the time of queries in nanoseconds.
func (c *curve) sum(fs []Features) (ns float64) {
	for i := range fs {
		ns += c.time(&fs[i])
	}
	return ns
}

// meanError returns the mean relative error.
func meanError(c *curve, start float64, samples []Sample) (e float64) {
	for _, s := range samples {
		took := max(float64(s.Took), 1)
		e += math.Abs(c.sum(s.Queries)+start-took) / took / float64(len(samples))
	}
	return e
}

// fitBring returns the median time of a missing byte.
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
