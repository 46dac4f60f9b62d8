package codec

import "fmt"

// MaxExceptionRatio is the largest fraction of a segment that may be exceptions (Ao et
// al. 2011, section 6.2).
const MaxExceptionRatio = 0.6

// Options control encoders. They are not stored, because decoders read all lists. The
// zero value allows no exceptions.
type Options struct {
	// ExceptionRatio is the largest fraction of the values of a segment that ParaPFor
	// and LRCPFor may store as exceptions, 0 to MaxExceptionRatio. The encoder makes fewer
	// exceptions if that takes fewer words.
	ExceptionRatio float64
	// Forced makes ParaPFor, LRCPFor, PFD and NewPFD use the least width that leaves at most the
	// fraction ExceptionRatio of a segment as exceptions, though a larger width may take
	// fewer words. It is for measurements over the fraction (Ao et al. 2011, Figures 7
	// and 8). Default: each segment takes the fewest words.
	Forced bool
	// RPFDLevels is the number of times that RPFD compresses the arrays of exceptions
	// again, 0 to MaxRPFDLevels. 0 stores them as plain words.
	RPFDLevels int
}

// DefaultOptions returns ExceptionRatio 0.1 and RPFDLevels 1. On real text and on
// clustered lists this ratio saves 10 to 40 % of the words of ratio 0. Larger ratios
// save at most 2 % more and decode more slowly. More levels save little (Ding et al.
// 2009, section 6.3).
func DefaultOptions() Options { return Options{ExceptionRatio: 0.1, RPFDLevels: 1} }

// Validate checks that both options are in their range.
func (o Options) Validate() error {
	if !(o.ExceptionRatio >= 0 && o.ExceptionRatio <= MaxExceptionRatio) { // NaN fails too
		return fmt.Errorf("codec: exception ratio %v is not in 0 to %v", o.ExceptionRatio, MaxExceptionRatio)
	}
	if o.RPFDLevels < 0 || o.RPFDLevels > MaxRPFDLevels {
		return fmt.Errorf("codec: %d levels of RPFD are not in 0 to %d", o.RPFDLevels, MaxRPFDLevels)
	}
	return nil
}

// exceptions returns the greatest number of exceptions among count values.
func (o Options) exceptions(count int) int {
	return min(int(o.ExceptionRatio*float64(count)), maxExceptions(count))
}

// forcedWidth returns the width of Options.Forced for values, of which wider[b] have more
// than b bits.
func (o Options) forcedWidth(wider *[33]int, count int) (b uint) {
	for wider[b] > o.exceptions(count) {
		b++
	}
	return b
}

// maxExceptions returns count times MaxExceptionRatio, in integers. Decoders reject
// more exceptions.
func maxExceptions(count int) int { return count * 3 / 5 }
