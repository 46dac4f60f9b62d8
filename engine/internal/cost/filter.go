package cost

import "math"

// filter turns errors of estimates into correction steps. One run that took a hundred times
// as long, because of a garbage collection or of other programs, must not spoil an estimate;
// many such runs are a change. So the filter clips an error at a few times the usual error.
// The usual error grows with each large error, and the steps grow while errors keep one
// sign. The zero value starts without experience.
type filter struct {
	usual float64 // mean absolute error, of logarithms
	trend float64 // running mean of the sign of errors, -1 to 1
	seen  float64 // number of errors
}

const (
	clipAt     = 3 // times the usual error
	usualRate  = 0.1
	leastUsual = 0.02
	trendRate  = 0.2
	// gain without a trend, gain of the trend, and the trend that noise alone has.
	gain, trendGain, noTrend = 0.04, 0.6, 0.3
	// The first steps correct the whole error; later steps become shorter.
	early = 25
)

// step returns the change of the logarithm of an estimate after an error off.
func (f *filter) step(off float64) float64 {
	if f.seen == 0 {
		f.usual = 1
	}
	limit := clipAt * f.usual
	clipped := max(-limit, min(limit, off))
	f.usual += usualRate * (max(math.Abs(clipped), leastUsual) - f.usual)
	f.trend += trendRate * (clipped/limit - f.trend)
	f.seen++
	return clipped * min(1, max(gain+trendGain*max(0, math.Abs(f.trend)-noTrend), math.Sqrt(early/f.seen)))
}

// know sets the mean error of a calibrated estimate, so that the filter starts with
// experience.
func (f *filter) know(usual float64) {
	f.usual, f.trend, f.seen = max(usual, leastUsual), 0, early/(gain*gain)
}
