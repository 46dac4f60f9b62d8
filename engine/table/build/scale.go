package build

import (
	"math/bits"

	"heddle/engine/table/column"
)

// scaled finds the least scale with which all values of a Float column are decimals
// (column.ScaledKey). The zero value has seen no value.
type scaled struct {
	scale uint8
	none  bool // there is no such scale
}

// add takes the keys of more values.
func (s *scaled) add(keys []uint64) {
	s.scale = max(s.scale, 1)
	for i, k := range keys {
		switch {
		case s.none:
			return
		case i > 0 && k == keys[i-1]:
			continue
		}
		v := column.KeyFloat(k)
		for {
			// A value that fits a scale fits a greater one, unless it is too large there.
			if _, ok := column.ScaledKey(v, s.scale); ok {
				break
			}
			if s.scale++; s.scale > column.MaxFloatScale {
				s.none = true
				return
			}
		}
	}
}

// chosen is the scale for a column with a least and a greatest key; 0 where there is none, or
// where codes would not become shorter.
func (s *scaled) chosen(least, greatest uint64) uint8 {
	if s.none || s.scale == 0 {
		return 0
	}
	lo, ok := column.ScaledKey(column.KeyFloat(least), s.scale)
	hi, fits := column.ScaledKey(column.KeyFloat(greatest), s.scale)
	if !ok || !fits || bits.Len64(hi-lo) >= bits.Len64(greatest-least) {
		return 0
	}
	return s.scale
}
