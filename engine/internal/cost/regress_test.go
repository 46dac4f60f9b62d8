package cost

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func near(a, b, relative float64) bool {
	return math.Abs(a-b) <= relative*max(math.Abs(a), math.Abs(b))
}

// TestRegressAnscombe has the first of Anscombe's four sets (The American Statistician 27,
// 1973), with figures from statistics packages.
func TestRegressAnscombe(t *testing.T) {
	var fs []Features
	for _, x := range []uint64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5} {
		fs = append(fs, Features{Shortest: x})
	}
	y := []float64{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}
	r, err := Regress(LOS, fs, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"intercept", r.Intercept, 3.000091}, {"coefficient", r.Coefficients[0], 0.500091},
		{"R²", r.R2, 0.666542}, {"p of F", r.P, 0.002170}, {"p of t", r.Ps[0], 0.002170},
		{"at 9", r.At(&Features{Shortest: 9}), 7.500909},
	} {
		if !near(c.got, c.want, 2e-4) {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
	if r.Samples != 11 || r.Metric != LOS {
		t.Errorf("%+v", r)
	}
}

// TestRegressExact compares regressions with exact arithmetic.
func TestRegressExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{6, 7, 20, 200} {
		fs, y := make([]Features, n), make([]float64, n)
		for i := range fs {
			f := &fs[i]
			f.Shortest, f.Terms = 1+r.Uint64N(1000), 1+r.IntN(6)
			f.Second = f.Shortest + r.Uint64N(1<<20)
			f.Sum = f.Shortest + f.Second + r.Uint64N(1<<24)
			y[i] = 5 + 3*float64(f.Shortest) + float64(f.Second)/7 + 1000*r.NormFloat64()
		}
		got, err := Regress(Ding, fs, y)
		if err != nil {
			t.Fatal(err)
		}
		want := exactLeastSquares(fs, y)
		if !near(got.Intercept, want[0], 1e-6) {
			t.Errorf("%d samples: intercept %v, want %v", n, got.Intercept, want[0])
		}
		left, mean, total := 0.0, 0.0, 0.0
		for i := range y {
			mean += y[i] / float64(n)
		}
		for i := range fs {
			e := y[i] - got.At(&fs[i])
			left, total = left+e*e, total+(y[i]-mean)*(y[i]-mean)
		}
		for j, c := range got.Coefficients {
			if !near(c, want[1+j], 1e-6) {
				t.Errorf("%d samples: coefficient %d is %v, want %v", n, j, c, want[1+j])
			}
		}
		if !near(got.R2, 1-left/total, 1e-6) || got.P < 0 || got.P > 1 {
			t.Errorf("%d samples: R² %v, want %v; p %v", n, got.R2, 1-left/total, got.P)
		}
		if n == 200 && (got.Ps[0] > 1e-6 || got.Ps[1] > 1e-6 || got.Ps[3] < 1e-4) {
			t.Errorf("the first two values say something, the last nothing: p %v", got.Ps)
		}
	}
}

// exactLeastSquares solves the normal equations in rational numbers.
func exactLeastSquares(fs []Features, y []float64) []float64 {
	const k = 1 + 4 // values of Ding
	var m [k][k + 1]*big.Rat
	for i := range m {
		for j := range m[i] {
			m[i][j] = new(big.Rat)
		}
	}
	for s := range fs {
		row := append(Ding.Values(&fs[s], []float64{1}), y[s])
		for i := range m {
			for j := range m[i] {
				a, b := new(big.Rat).SetFloat64(row[i]), new(big.Rat).SetFloat64(row[j])
				m[i][j].Add(m[i][j], a.Mul(a, b))
			}
		}
	}
	for i := range m {
		for l := range m {
			if l == i {
				continue
			}
			times := new(big.Rat).Quo(m[l][i], m[i][i])
			for j := range m[l] {
				m[l][j].Sub(m[l][j], new(big.Rat).Mul(times, m[i][j]))
			}
		}
	}
	x := make([]float64, k)
	for i := range x {
		x[i], _ = new(big.Rat).Quo(m[i][k], m[i][i]).Float64()
	}
	return x
}

// TestRegressEdges has constant and redundant values, whose coefficients are 0.
func TestRegressEdges(t *testing.T) {
	var fs []Features
	var y []float64
	for i := range uint64(10) {
		fs = append(fs, Features{Terms: 2, Shortest: i, Second: 3 * i, Sum: 4 * i})
		y = append(y, 2+5*float64(i))
	}
	r, err := Regress(Ding, fs, y)
	if err != nil || !near(r.Coefficients[0], 5, 1e-9) || !near(r.Intercept, 2, 1e-9) || r.R2 < 1-1e-12 || r.P > 1e-20 {
		t.Errorf("%+v, %v", r, err)
	}
	for j, c := range r.Coefficients[1:] {
		if c != 0 || r.Ps[1+j] != 1 {
			t.Errorf("coefficient %d is %v, p %v", 1+j, c, r.Ps[1+j])
		}
	}
	clear(y)
	if r, err := Regress(LOS, fs, y); err != nil || r.R2 != 0 || r.P != 1 || r.Intercept != 0 || r.Coefficients[0] != 0 {
		t.Errorf("of nothing: %+v, %v", r, err)
	}
	for n := range 6 {
		if _, err := Regress(Ding, fs[:n], y[:n]); err == nil {
			t.Errorf("%d samples make a plane", n)
		}
	}
	if _, err := Regress(LOS, fs, y[1:]); err == nil {
		t.Error("a sample without result")
	}
}

// TestRegularBeta compares with the integral of the definition, and with tables of the t and F
// distributions.
func TestRegularBeta(t *testing.T) {
	for _, a := range []float64{0.5, 1, 2.5, 20, 400} {
		for _, b := range []float64{0.5, 1, 3, 70} {
			last := 0.0
			for _, x := range []float64{0, 1e-6, 0.1, 0.4, 0.5, 0.9, 0.999, 1} {
				got := regularBeta(x, a, b)
				if got < last || got > 1 {
					t.Errorf("a %v, b %v: %v at %v, %v before", a, b, got, x, last)
				}
				if last = got; a >= 1 && b >= 1 && math.Abs(got-integral(x, a, b)) > 1e-4 {
					t.Errorf("a %v, b %v: %v at %v, want %v", a, b, got, x, integral(x, a, b))
				}
			}
		}
	}
	for _, c := range []struct{ t, free, p float64 }{{12.706, 1, 0.05}, {2.228, 10, 0.05}, {3.169, 10, 0.01}, {1.984, 100, 0.05}, {3.390, 100, 0.001}} {
		if p := regularBeta(c.free/(c.free+c.t*c.t), c.free/2, 0.5); !near(p, c.p, 2e-3) {
			t.Errorf("t of %v with %v degrees of freedom: p %v, want %v", c.t, c.free, p, c.p)
		}
	}
	for _, c := range []struct{ f, d1, d2, p float64 }{{4.965, 1, 10, 0.05}, {3.478, 4, 10, 0.05}, {3.513, 4, 100, 0.01}} {
		if p := regularBeta(c.d2/(c.d2+c.d1*c.f), c.d2/2, c.d1/2); !near(p, c.p, 2e-3) {
			t.Errorf("F of %v with %v and %v degrees of freedom: p %v, want %v", c.f, c.d1, c.d2, p, c.p)
		}
	}
}

// integral computes the regularized incomplete beta function by the midpoint rule.
func integral(x, a, b float64) float64 {
	const steps = 4000
	part, all := 0.0, 0.0
	for i := range steps {
		u := (float64(i) + 0.5) / steps
		all += math.Exp((a-1)*math.Log(u) + (b-1)*math.Log1p(-u))
		v := u * x
		part += x * math.Exp((a-1)*math.Log(v)+(b-1)*math.Log1p(-v))
	}
	return part / all
}
