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
	// RPFDLevels is how often RPFD compresses the arrays of exceptions again, 0
	// to MaxRPFDLevels. 0 leaves them plain.
	RPFDLevels int
}

// DefaultOptions is ExceptionRatio 0.1 and RPFDLevels 1. On lists of real text
// and on clustered ones that ratio takes 10 to 40 % fewer words than no
// exceptions, and is within 2 % of what larger ratios reach, which decode more
// slowly. More levels give slight further benefits only (Ding et al. 2009,
// section 6.3).
func DefaultOptions() Options { return Options{ExceptionRatio: 0.1, RPFDLevels: 1} }

// Validate reports a ratio outside 0 to MaxExceptionRatio and levels outside 0 to
// MaxRPFDLevels.
func (o Options) Validate() error {
	if !(o.ExceptionRatio >= 0 && o.ExceptionRatio <= MaxExceptionRatio) { // NaN fails too
		return fmt.Errorf("codec: exception ratio %v is not in 0 to %v", o.ExceptionRatio, MaxExceptionRatio)
	}
	if o.RPFDLevels < 0 || o.RPFDLevels > MaxRPFDLevels {
		return fmt.Errorf("codec: %d levels are not in 0 to %d", o.RPFDLevels, MaxRPFDLevels)
	}
	return nil
}

// exceptions is how many of count values may be exceptions.
func (o Options) exceptions(count int) int {
	return min(int(o.ExceptionRatio*float64(count)), maxExceptions(count))
}

// maxExceptions is MaxExceptionRatio in integers: decoders reject more.
func maxExceptions(count int) int { return count * 3 / 5 }
