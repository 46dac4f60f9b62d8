package cost

import (
	"fmt"
	"math"
)

// Regression is a least-squares regression of y, such as a time or the difference of two
// times, on the values of a metric (Wu et al. 2010, Table III).
type Regression struct {
	Metric       Metric
	Samples      int
	Intercept    float64   // intercept, in the unit of y
	Coefficients []float64 // units of y for each of Metric.Names; 0 for a redundant value
	R2           float64   // explained part of the variance of y
	// P is the p value of the regression (F test), and Ps are the p values of the
	// coefficients (t tests). They are 1 if there are too few samples, and 0 below 1e-300.
	P  float64
	Ps []float64
}

// Regress fits y to the values of a metric other than Best; y[i] belongs to fs[i]. The error
// gives the number of samples that are needed.
func Regress(m Metric, fs []Features, y []float64) (Regression, error) {
	k := len(m.Names())
	if len(fs) != len(y) || len(fs) < k+2 {
		return Regression{}, fmt.Errorf("cost: a regression on %s needs %d samples, there are %d with %d results", m, k+2, len(fs), len(y))
	}
	n := float64(len(y))
	columns, means := make([][]float64, k), make([]float64, k)
	for i := range fs {
		values := m.values(&fs[i])
		for j, v := range values[:k] {
			columns[j] = append(columns[j], v)
			means[j] += v / n
		}
	}
	mean := 0.0
	for _, v := range y {
		mean += v / n
	}
	rest := make([]float64, len(y))
	total := 0.0
	for i, v := range y {
		rest[i] = v - mean
		total += rest[i] * rest[i]
	}
	sizes := make([]float64, k)
	for j, c := range columns {
		sizes[j] = dot(c, c)
		for i := range c {
			c[i] -= means[j]
		}
	}
	b, spread, rank := leastSquares(columns, sizes, rest)
	left := dot(rest, rest)
	r := Regression{Metric: m, Samples: len(y), Intercept: mean, Coefficients: b, P: 1, Ps: make([]float64, k)}
	free := n - float64(rank) - 1
	if total > 0 {
		r.R2 = max(0, 1-left/total)
		if rank > 0 {
			r.P = regularBeta(min(left/total, 1), free/2, float64(rank)/2)
		}
	}
	for j, c := range b {
		r.Intercept -= c * means[j]
		r.Ps[j] = 1
		if variance := spread[j] * left / free; c != 0 {
			r.Ps[j] = regularBeta(free/(free+c*c/variance), free/2, 0.5)
		}
	}
	return r, nil
}

// At returns the predicted y.
func (r *Regression) At(f *Features) float64 {
	y, v := r.Intercept, r.Metric.values(f)
	for j, c := range r.Coefficients {
		y += c * v[j]
	}
	return y
}

// leastSquares fits y to columns by the modified Gram-Schmidt method. It leaves the residual
// in y and overwrites columns. sizes are the sums of squares of the columns before they were
// centred: a remainder far below them is rounding. It returns the coefficients, the diagonal
// of the inverse of the normal matrix, and the rank. A column that depends on earlier columns
// has the coefficient 0.
func leastSquares(columns [][]float64, sizes, y []float64) (b, spread []float64, rank int) {
	k := len(columns)
	r := make([][]float64, k)
	b, spread = make([]float64, k), make([]float64, k)
	for j, c := range columns {
		r[j] = make([]float64, k)
		for i, q := range columns[:j] {
			r[i][j] = dot(q, c)
			subtract(c, q, r[i][j])
		}
		if length := dot(c, c); length > 1e-20*sizes[j] {
			rank++
			r[j][j] = math.Sqrt(length)
			for i := range c {
				c[i] /= r[j][j]
			}
			b[j] = dot(c, y)
			subtract(y, c, b[j])
		} else {
			clear(c)
		}
	}
	inverse := make([][]float64, k)
	for i := k - 1; i >= 0; i-- {
		inverse[i] = make([]float64, k)
		if r[i][i] == 0 {
			continue
		}
		inverse[i][i] = 1 / r[i][i]
		for j := i + 1; j < k; j++ {
			b[i] -= r[i][j] * b[j]
			for l := i + 1; l <= j; l++ {
				inverse[i][j] -= r[i][l] * inverse[l][j] / r[i][i]
			}
		}
		b[i] /= r[i][i]
		spread[i] = dot(inverse[i], inverse[i])
	}
	return b, spread, rank
}

func dot(a, b []float64) (s float64) {
	for i, x := range a {
		s += x * b[i]
	}
	return s
}

// subtract subtracts times × b from a.
func subtract(a, b []float64, times float64) {
	for i, x := range b {
		a[i] -= times * x
	}
}

// regularBeta is the regularized incomplete beta function, on which the F and the t
// distribution rest. It evaluates the continued fraction of DLMF 8.17.22 by Lentz's method.
func regularBeta(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // where the fraction converges slowly
		return 1 - regularBeta(1-x, b, a)
	}
	const tiny = 1e-300
	away := func(v float64) float64 { // from zero
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	f := d
	for m := 1.0; m < 10_000; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		before := f
		for _, t := range [...]float64{even, odd} {
			d = 1 / away(1+t*d)
			c = away(1 + t/c)
			f *= c * d
		}
		if math.Abs(f-before) < 1e-15*math.Abs(f) {
			break
		}
	}
	ga, _ := math.Lgamma(a)
	gb, _ := math.Lgamma(b)
	gab, _ := math.Lgamma(a + b)
	return f * math.Exp(gab-ga-gb+a*math.Log(x)+b*math.Log1p(-x)) / a
}
