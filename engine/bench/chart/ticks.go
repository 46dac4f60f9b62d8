package chart

import (
	"math"

	"heddle/engine/bench/measure"
)

// tick is a mark on an axis. A tick without a label has a line of the grid only.
type tick struct {
	Value float64
	Label string
}

// powersOfTwo returns at most a dozen labelled ticks of a logarithmic axis.
func powersOfTwo(lo, hi float64) (ticks []tick) {
	first, last := int(math.Ceil(math.Log2(lo))), int(math.Floor(math.Log2(hi)))
	step := max(1, (last-first+10)/11)
	for e := first; e <= last; e++ {
		t := tick{Value: math.Exp2(float64(e))}
		if (e-first)%step == 0 {
			t.Label = measure.Binary(t.Value)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// oneTwoFive returns ticks at 1, 2 and 5 times powers of ten. On a long axis only
// powers of ten have labels.
func oneTwoFive(lo, hi float64) (ticks []tick) {
	decades := math.Log10(hi / lo)
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= lo && v <= hi {
				t := tick{Value: v}
				if m == 1 || decades < 4 {
					t.Label = measure.Decimal(v)
				}
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// evenly returns ticks of a linear axis, at multiples of 1, 2 or 5 times a power of
// ten.
func evenly(lo, hi float64) (ticks []tick) {
	step := math.Pow(10, math.Floor(math.Log10(max(hi-lo, math.SmallestNonzeroFloat32))))
	for _, part := range []float64{0.1, 0.2, 0.5, 1} {
		if (hi-lo)/(step*part) <= 8 {
			step *= part
			break
		}
	}
	for i := math.Ceil(lo/step) + 0; i*step <= hi+step*1e-9; i++ { // -0 + 0 is 0; 6*0.1 is more than 0.6
		ticks = append(ticks, tick{Value: i * step, Label: measure.Decimal(i * step)})
	}
	return ticks
}
