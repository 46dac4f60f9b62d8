package significance

import (
	"math"
	"slices"
	"testing"
)

// sleep are the differences of Student's paper of 1908: additional hours of sleep by two
// drugs for ten patients. t = 4.0621 with 9 degrees of freedom.
var sleep = []float64{1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4}

func TestPairedT(t *testing.T) {
	for _, test := range []struct {
		differences []float64
		want        float64
	}{
		{sleep, 0.002832890}, // R: t.test(extra ~ group, sleep, paired = TRUE)
		{[]float64{0, 0, 0}, 1},
		{[]float64{1, -1}, 1},
		{[]float64{1}, math.NaN()},
		{nil, math.NaN()},
	} {
		got := PairedT(test.differences)
		if math.IsNaN(got) != math.IsNaN(test.want) || math.Abs(got-test.want) > 1e-8 {
			t.Errorf("%v: %v, want %v", test.differences, got, test.want)
		}
	}
	negative := slices.Clone(sleep)
	for i := range negative {
		negative[i] = -negative[i]
	}
	if PairedT(negative) != PairedT(sleep) {
		t.Error("the sign of the differences matters")
	}
}

func TestRandomisation(t *testing.T) {
	// Nine positive differences and a 0: the two assignments with all signs equal, times two
	// for the sign of 0, of 1024.
	if got, want := Randomisation(sleep), 4.0/1024; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Randomisation([]float64{0, 0}); got != 1 {
		t.Errorf("no difference: %v", got)
	}
	if got := Randomisation([]float64{3, -1, 1}); got != 0.75 { // the sums are 5, 3, 3, 1 and their negatives
		t.Errorf("three differences: %v", got)
	}
	many := slices.Repeat(sleep, 4)
	if got := Randomisation(many); got != 1.0/(samples+1) {
		t.Errorf("forty queries: %v", got)
	}
	var balanced []float64
	for i := range 40 {
		balanced = append(balanced, float64(1-i%2*2))
	}
	if got := Randomisation(balanced); got != 1 {
		t.Errorf("balanced: %v", got)
	}
	shifted := slices.Clone(balanced)
	for i := range 6 {
		shifted[i] = 1
	}
	// Of 40 signs, the sum 6 or farther: P(|2X-40| >= 6) for X of 40 fair coins is 0.4296.
	if got := Randomisation(shifted); math.Abs(got-0.4296) > 0.02 {
		t.Errorf("shifted: %v", got)
	}
}

func TestHolm(t *testing.T) {
	p := []float64{0.01, 0.04, 0.03, 0.005}
	Holm(p)
	if want := []float64{0.03, 0.06, 0.06, 0.02}; !slices.EqualFunc(p, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
		t.Errorf("%v, want %v", p, want)
	}
	large := []float64{0.7, 0.9}
	if Holm(large); large[0] != 1 || large[1] != 1 {
		t.Errorf("%v", large)
	}
}
