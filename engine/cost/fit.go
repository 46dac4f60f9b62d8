package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Sample is queries that ran together and what that took, or one query that ran alone.
type Sample struct {
	Queries []Features
	Took    time.Duration
}

// Fit is how well a metric explains what queries took, and predicts it. Errors are means
// of |predicted - real| / real over a third of the samples, by a fit to the others.
type Fit struct {
	Metric Metric
	// Regression is of milliseconds that queries took alone, by ordinary least squares.
	Regression Regression
	// Linear is the error of the costs that predictions are made from, none negative, for
	// queries alone; Corrected that of the Model, which corrects them by the size of
	// each feature; Batches that of the Model for batches, 0 if there were none.
	Linear, Corrected, Batches float64

	state *state
}

// Fit fits every metric to queries that ran alone and to batches, of which there may be
// none, and goes on with the one that the Model is for. Samples with Missing bytes say
// what it takes to bring those in. The error says that there are too few samples.
func (m *Model) Fit(alone, batches []Sample) ([]Fit, error) {
	var brought []Sample
	alone = slices.DeleteFunc(slices.Clone(alone), func(s Sample) bool {
		if s.Queries[0].Missing > 0 {
			brought = append(brought, s)
		}
		return s.Queries[0].Missing > 0
	})
	if len(alone) < minSamples {
		return nil, fmt.Errorf("cost: %d samples of queries, at least %d are needed", len(alone), minSamples)
	}
	var fits []Fit
	var used filter
	for _, metric := range Metrics() {
		f := Fit{Metric: metric}
		var err error
		if f.Regression, err = Regress(metric, queries(alone), milliseconds(alone)); err != nil {
			return nil, err
		}
		some, others := deal(alone)
		c, _ := fitCurve(metric, some, false)
		f.Corrected = meanError(c, 0, others)
		plain := &curve{metric: metric, costs: c.costs}
		f.Linear = meanError(plain, 0, others)
		f.state = &state{}
		f.state.alone, _ = fitCurve(metric, alone, false)
		f.state.bring.store(fitBring(f.state.alone, brought))
		if len(batches) >= minSamples {
			some, others := deal(batches)
			added, start := fitCurve(metric, some, true)
			f.Batches = meanError(added, start, others)
			added, start = fitCurve(metric, batches, true)
			f.state.added = added
			f.state.start.store(start)
		} else { // half of what every query takes is shared
			f.state.added = f.state.alone.copy()
			f.state.added.costs[0] /= 2
			f.state.start.store(f.state.added.costs[0])
		}
		fits = append(fits, f)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples = len(alone) + len(batches)
	m.alone, m.batches = used, used
	m.use(fits)
	return fits, nil
}

// minSamples is how many a fit takes.
const minSamples = 12

// use goes on with one of fits, of which there is one a metric.
func (m *Model) use(fits []Fit) {
	m.fits = fits
	best := slices.MinFunc(fits, func(a, b Fit) int { return cmp.Compare(a.Corrected, b.Corrected) })
	if i := slices.IndexFunc(fits, func(f Fit) bool { return f.Metric == m.metric }); i >= 0 {
		best = fits[i]
	}
	m.alone = filter{usual: max(best.Corrected, leastUsual), seen: float64(m.samples)}
	m.batches = filter{usual: max(best.Batches, leastUsual), seen: float64(m.samples)}
	m.state.Store(best.state)
}

// deal gives two of three samples, and the third.
func deal(all []Sample) (some, others []Sample) {
	for i, s := range all {
		if i%3 == 2 {
			others = append(others, s)
		} else {
			some = append(some, s)
		}
	}
	return some, others
}

func queries(alone []Sample) (fs []Features) {
	for _, s := range alone {
		fs = append(fs, s.Queries[0])
	}
	return fs
}

func milliseconds(samples []Sample) (ms []float64) {
	for _, s := range samples {
		ms = append(ms, float64(s.Took)/1e6)
	}
	return ms
}

// fitCurve fits a curve, and with started what a sample takes beside.
func fitCurve(m Metric, samples []Sample, started bool) (c *curve, start float64) {
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
	c = &curve{metric: m}
	for i, x := range costs[1:] {
		c.costs[i] = x * 1e9
	}
	start = costs[0] * 1e9
	if c.costs == [1 + maxValues]float64{} { // samples that say nothing of queries
		c.costs[0] = 1
	}
	for round := range fitRounds {
		rate := 0.3 / (1 + float64(round)/3)
		for _, s := range samples {
			c.approach(s, start, rate)
		}
	}
	return c, start
}

const fitRounds = 40

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
		return guess(false, And, LOS).bring.load()
	}
	slices.Sort(each)
	return each[len(each)/2]
}
