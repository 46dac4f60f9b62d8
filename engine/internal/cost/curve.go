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
	lengths [5][octaves]atomicFloat // of Shortest, Second, Sum, Sparse, Common in thousandths
	// By number, of which the last is for all that are greater.
	counts [2][mostCount + 1]atomicFloat // of Terms, Dense
}

// What files call the factors.
var (
	lengthNames = [...]string{"shortest", "second", "sum", "sparse", "common"}
	countNames  = [...]string{"terms", "dense"}
)

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
	p := c.part(f)
	sum := p.all[0].load() +
		at(&p.lengths[0], f.Shortest) + at(&p.lengths[1], f.Second) + at(&p.lengths[2], f.Sum) + at(&p.lengths[3], f.Sparse) + at(&p.lengths[4], f.common()) +
		p.counts[0][min(f.Terms, mostCount)].load() + p.counts[1][min(f.Dense, mostCount)].load()
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
	return c.costs[0] + c.costs[1]*v[0] + c.costs[2]*v[1] + c.costs[3]*v[2] + c.costs[4]*v[3]
}

// move changes factors so that the logarithm of the time of f grows by step: each by what
// it counts for, so that the sum of squares of changes is the least.
func (c *curve) move(f *Features, step float64) {
	lengths := [...]uint64{f.Shortest, f.Second, f.Sum, f.Sparse, f.common()}
	square := 3.0 // of what factors count for
	for _, n := range lengths {
		_, part := octave(n)
		square += part*part + (1-part)*(1-part)
	}
	step /= square
	p := c.part(f)
	p.all[0].move(step)
	for i, n := range lengths {
		o, part := octave(n)
		p.lengths[i][o].move(step * (1 - part))
		if part > 0 {
			p.lengths[i][o+1].move(step * part)
		}
	}
	p.counts[0][min(f.Terms, mostCount)].move(step)
	p.counts[1][min(f.Dense, mostCount)].move(step)
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
