package cost

import "math"

// filter turns what is seen into steps towards it. One run that took a hundred times as
// long, because the collector or a neighbour had its turn, must not spoil an estimate;
// many that did are the truth. So no error counts for more than a few times what errors
// usually are; what they usually are grows by a part with every surprise, and steps grow
// while errors have one sign. The zero value is that of somebody who knows nothing.
type filter struct {
	usual float64 // absolute error, a logarithm
	trend float64 // from -1 to 1: how much of one sign errors are
	seen  float64 // errors so far
}

const (
	clipAt     = 3 // times the usual error
	usualRate  = 0.1
	leastUsual = 0.02
	trendRate  = 0.2
	// The gain without a trend, and what trend adds that is more than noise alone has.
	gain, trendGain, noTrend = 0.04, 0.6, 0.3
	// The first so many steps go all the way; then they get shorter by and by.
	early = 25
)

// step says by how much to change the logarithm of an estimate that was off by as much.
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

// know tells the filter of a mean error that the estimate has, so that it does not begin
// as one who knows nothing.
func (f *filter) know(usual float64) {
	f.usual, f.trend, f.seen = max(usual, leastUsual), 0, early/(gain*gain)
}
