package codec

import "fmt"

// MaxExceptionRatio is the largest share of a segment that may be exceptions,
// the bound that Ao et al. use in section 6.2.
const MaxExceptionRatio = 0.6

// Options are the encoder's choices. They are not stored: a decoder reads any
// choice. The zero value allows no exceptions.
type Options struct {
	// ExceptionRatio is the largest share of a segment's values that ParaPFor may
	// store as exceptions, 0 to MaxExceptionRatio. The encoder uses fewer where
	// that takes fewer words.
	ExceptionRatio float64
}

// DefaultOptions is ExceptionRatio 0.1: on lists of real text and on clustered
// ones, 10 to 40 % fewer words than without exceptions, and within 2 % of what
// larger ratios reach, which decode more slowly.
func DefaultOptions() Options { return Options{ExceptionRatio: 0.1} }

// Validate reports a ratio outside 0 to MaxExceptionRatio.
func (o Options) Validate() error {
	if !(o.ExceptionRatio >= 0 && o.ExceptionRatio <= MaxExceptionRatio) { // NaN fails too
		return fmt.Errorf("codec: exception ratio %v is not in 0 to %v", o.ExceptionRatio, MaxExceptionRatio)
	}
	return nil
}

// exceptions is how many of count values may be exceptions.
func (o Options) exceptions(count int) int {
	return min(int(o.ExceptionRatio*float64(count)), maxExceptions(count))
}

// maxExceptions is MaxExceptionRatio in integers: decoders reject more.
func maxExceptions(count int) int { return count * 3 / 5 }
