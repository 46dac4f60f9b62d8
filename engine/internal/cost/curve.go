package cost

import (
	"math"
	"sync/atomic"
)

// curve maps a query to its time in nanoseconds: costs that are linear in the values of a
// metric, times a factor for each feature of the query. The factors follow steps of the real
// costs, such as the size of a cache, the start of threads, or another algorithm of the
// backend. Factors are safe for concurrent use; the other fields do not change.
type curve struct {
	metric Metric
	costs  [1 + maxValues]float64 // cost of a query, then of one unit of each value of the metric
	// Queries with Common below split use parts[0], all other queries parts[1].
	split float64
	parts [2]factors
}

// factors are the logarithms of correction factors.
type factors struct {
	all [1]atomicFloat // applies to every query
	// By octave of a length, with linear interpolation between octaves.
	lengths [lengths][octaves]atomicFloat
	// By number; the last entry covers all greater numbers.
	counts [counts][mostCount + 1]atomicFloat
}

// lengths and counts are how many features of a query have factors.
const lengths, counts = 5, 2

// Names of the factors of queries on lists in files.
var (
	lengthNames = [lengths]string{"shortest", "second", "sum", "sparse", "common"}
	countNames  = [counts]string{"terms", "dense"}
)

// lengths of f that have factors. Common counts in thousandths.
func (c *curve) lengths(f *Features) [lengths]uint64 {
	if c.metric == selections {
		return f.Selection.lengths()
	}
	return [lengths]uint64{f.Shortest, f.Second, f.Sum, f.Sparse, f.common()}
}

// counts of f that have factors.
func (c *curve) counts(f *Features) [counts]int {
	if c.metric == selections {
		return f.Selection.counts()
	}
	return [counts]int{min(f.Terms, mostCount), min(f.Dense, mostCount)}
}

const (
	octaves   = 64 + 2 // octaves of 1 plus any length, and one octave more for interpolation
	mostCount = 15
	// maxFactor bounds each logarithm and the sum of the logarithms of a query.
	maxFactor = 16
)

type atomicFloat struct{ bits atomic.Uint64 }

func (a *atomicFloat) load() float64   { return math.Float64frombits(a.bits.Load()) }
func (a *atomicFloat) store(v float64) { a.bits.Store(math.Float64bits(v)) }

// move adds step to a logarithm. Concurrent calls may lose one of their steps.
func (a *atomicFloat) move(step float64) {
	a.store(bound(a.load() + step))
}

// bound limits a logarithm to maxFactor. Comparisons are faster than min and max, which check
// for NaN.
func bound(x float64) float64 {
	if x > maxFactor {
		return maxFactor
	} else if x < -maxFactor {
		return -maxFactor
	}
	return x
}

// octave approximates the binary logarithm of 1+n: the exponent, and a linear part between
// powers of two.
func octave(n uint64) (whole int, part float64) {
	bits := math.Float64bits(float64(int64(n)) + 1)
	return int(bits>>52) & 63, math.Float64frombits(bits&(1<<52-1)|1023<<52) - 1
}

// place is where the factors of a query are.
type place struct {
	whole  [lengths]int
	part   [lengths]float64
	counts [counts]int
}

// places returns where the factors of a query are, the same in all curves of a model.
func (c *curve) places(f *Features) (p place) {
	for i, n := range c.lengths(f) {
		p.whole[i], p.part[i] = octave(n)
	}
	p.counts = c.counts(f)
	return p
}

// at returns the logarithm of the factor of length i.
func (p *factors) at(at *place, i int) float64 {
	whole := at.whole[i]
	x := p.lengths[i][whole].load()
	return x + at.part[i]*(p.lengths[i][whole+1].load()-x)
}

// common is Common in thousandths: below 2^42 in any index.
func (f *Features) common() uint64 { return uint64(min(f.Common*1000, 1<<60)) }

// time returns the time of a query in nanoseconds.
func (c *curve) time(f *Features) float64 {
	at := c.places(f)
	return c.timeAt(f, &at)
}

func (c *curve) timeAt(f *Features, at *place) float64 {
	p := c.part(f)
	sum := p.all[0].load() + p.at(at, 0) + p.at(at, 1) + p.at(at, 2) + p.at(at, 3) + p.at(at, 4) +
		p.counts[0][at.counts[0]].load() + p.counts[1][at.counts[1]].load()
	return c.plain(f) * math.Exp(bound(sum))
}

// part returns the factors of a query.
func (c *curve) part(f *Features) *factors {
	if f.Common < c.split {
		return &c.parts[0]
	}
	return &c.parts[1]
}

// plain is the linear part of the time, in nanoseconds.
func (c *curve) plain(f *Features) float64 {
	v := c.metric.values(f)
	return c.costs[0] + c.costs[1]*v[0] + c.costs[2]*v[1] + c.costs[3]*v[2] + c.costs[4]*v[3] + c.costs[5]*v[4] + c.costs[6]*v[5]
}

// move changes the factors so that the logarithm of the time of f grows by step. Each factor
// changes in proportion to its weight, which minimises the sum of squared changes.
func (c *curve) move(f *Features, step float64) {
	sizes := c.lengths(f)
	square := 3.0 // sum of the squared weights
	for _, n := range sizes {
		_, part := octave(n)
		square += part*part + (1-part)*(1-part)
	}
	step /= square
	c.each(f, func(a *atomicFloat, weight float64) { a.move(step * weight) })
}

// relax multiplies the logarithms of the factors of f by 1-rate.
func (c *curve) relax(f *Features, rate float64) {
	c.each(f, func(a *atomicFloat, _ float64) { a.move(-rate * a.load()) })
}

// each calls do with every factor of f and its weight.
func (c *curve) each(f *Features, do func(a *atomicFloat, weight float64)) {
	p := c.part(f)
	do(&p.all[0], 1)
	for i, n := range c.lengths(f) {
		o, part := octave(n)
		do(&p.lengths[i][o], 1-part)
		if part > 0 {
			do(&p.lengths[i][o+1], part)
		}
	}
	for i, n := range c.counts(f) {
		do(&p.counts[i][n], 1)
	}
}

// scale adds step to the logarithms of all times.
func (c *curve) scale(step float64) {
	for i := range c.parts {
		c.parts[i].all[0].move(step)
	}
}

// copy returns an independent copy.
func (c *curve) copy() *curve {
	d := &curve{metric: c.metric, costs: c.costs, split: c.split}
	for i := range c.parts {
		from, to := c.parts[i].each(), d.parts[i].each()
		for name, logs := range from {
			for n := range logs {
				to[name][n].store(logs[n].load())
			}
		}
	}
	return d
}

// each returns the logarithms by their names in files.
func (p *factors) each() map[string][]atomicFloat {
	all := map[string][]atomicFloat{"all": p.all[:]}
	for i, name := range lengthNames {
		all[name] = p.lengths[i][:]
	}
	for i, name := range countNames {
		all[name] = p.counts[i][:]
	}
	return all
}
