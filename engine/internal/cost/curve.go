package cost

import (
	"math"
	"sync/atomic"
)

// curve is what queries take, in nanoseconds: costs that are linear in the values of a
// metric, times a factor for each feature of the query. Costs come in steps that no plane
// follows: what fits a cache, when threads wake, which way of looking things up a backend
// takes. Factors may be read and moved at the same time; the rest does not change.
type curve struct {
	metric Metric
	costs  [1 + maxValues]float64 // of a query, and of one of each of the metric's values
	// Queries of less Common than split have factors of their own, the first. 0 is none.
	split float64
	parts [2]factors
}

// factors are logarithms.
type factors struct {
	all [1]atomicFloat // of every query
	// By octave of a length; between octaves they are lines.
	lengths [lengths][octaves]atomicFloat
	// By number, of which the last is for all that are greater.
	counts [counts][mostCount + 1]atomicFloat
}

// lengths and counts are how many features of a query have factors.
const lengths, counts = 5, 2

// What files call the factors of queries on lists.
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
	octaves   = 64 + 2 // of 1 plus any length, and one behind the last
	mostCount = 15
	// maxFactor bounds a logarithm, and the sum of all of a query.
	maxFactor = 16
)

type atomicFloat struct{ bits atomic.Uint64 }

func (a *atomicFloat) load() float64   { return math.Float64frombits(a.bits.Load()) }
func (a *atomicFloat) store(v float64) { a.bits.Store(math.Float64bits(v)) }

// move adds to a logarithm. Of two that do so at a time one may be lost.
func (a *atomicFloat) move(step float64) {
	a.store(bound(a.load() + step))
}

// bound keeps a logarithm within maxFactor; comparing is faster than min and max, which
// look for NaN.
func bound(x float64) float64 {
	if x > maxFactor {
		return maxFactor
	} else if x < -maxFactor {
		return -maxFactor
	}
	return x
}

// octave is the binary logarithm of 1+n: the exponent, and between powers of two a line.
func octave(n uint64) (whole int, part float64) {
	bits := math.Float64bits(float64(int64(n)) + 1)
	return int(bits>>52) & 63, math.Float64frombits(bits&(1<<52-1)|1023<<52) - 1
}

// at is the logarithm of the factor of a length.
func at(a *[octaves]atomicFloat, n uint64) float64 {
	i, part := octave(n)
	x := a[i].load()
	return x + part*(a[i+1].load()-x)
}

// common is Common in thousandths, which are less than 2^42 in any index.
func (f *Features) common() uint64 { return uint64(min(f.Common*1000, 1<<60)) }

// time of a query.
func (c *curve) time(f *Features) float64 {
	p, n, k := c.part(f), c.lengths(f), c.counts(f)
	sum := p.all[0].load() +
		at(&p.lengths[0], n[0]) + at(&p.lengths[1], n[1]) + at(&p.lengths[2], n[2]) + at(&p.lengths[3], n[3]) + at(&p.lengths[4], n[4]) +
		p.counts[0][k[0]].load() + p.counts[1][k[1]].load()
	return c.plain(f) * math.Exp(bound(sum))
}

// part has the factors of a query.
func (c *curve) part(f *Features) *factors {
	if f.Common < c.split {
		return &c.parts[0]
	}
	return &c.parts[1]
}

// plain is the time without factors.
func (c *curve) plain(f *Features) float64 {
	v := c.metric.values(f)
	return c.costs[0] + c.costs[1]*v[0] + c.costs[2]*v[1] + c.costs[3]*v[2] + c.costs[4]*v[3] + c.costs[5]*v[4] + c.costs[6]*v[5]
}

// move changes factors so that the logarithm of the time of f grows by step: each by what
// it counts for, so that the sum of squares of changes is the least.
func (c *curve) move(f *Features, step float64) {
	sizes := c.lengths(f)
	square := 3.0 // of what factors count for
	for _, n := range sizes {
		_, part := octave(n)
		square += part*part + (1-part)*(1-part)
	}
	step /= square
	c.each(f, func(a *atomicFloat, weight float64) { a.move(step * weight) })
}

// relax brings the factors of f nearer to one, by a part of their logarithms.
func (c *curve) relax(f *Features, rate float64) {
	c.each(f, func(a *atomicFloat, _ float64) { a.move(-rate * a.load()) })
}

// each calls do with every factor of f, and how much it counts for.
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

// scale adds to the logarithms of all times.
func (c *curve) scale(step float64) {
	for i := range c.parts {
		c.parts[i].all[0].move(step)
	}
}

// copy returns a curve that learns by itself.
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

// each gives the logarithms by the name that files give them.
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
