package hdl

import (
	"math"
	"slices"
	"unicode/utf8"
)

// Values of Impacts.Origin.
const (
	ImpactsBM25    = "bm25"    // contributions by Variant, K1 and B
	ImpactsWeights = "weights" // weights that the documents gave
)

// Impacts describes the integers in the place of frequencies. An impact, from 1 to
// 2^Bits-1, times Scale is the contribution of a posting to the score of its document for
// a query weight of 1.
type Impacts struct {
	Bits   uint8   `json:"bits"` // 8 or 16; 0: frequencies, and no other field is set
	Origin string  `json:"origin"`
	Scale  float64 `json:"scale"` // not negative

	// Of ImpactsBM25: the scoring function, as package bm25 names it.
	Variant string  `json:"variant,omitempty"`
	K1      float64 `json:"k1,omitempty"`
	B       float64 `json:"b,omitempty"`
}

// Max is the greatest value that may stand in the place of a frequency.
func (m Impacts) Max() uint32 {
	if m.Bits == 0 {
		return math.MaxUint32
	}
	return 1<<m.Bits - 1
}

// check refuses values that no index can hold.
func (m Impacts) check() error {
	switch {
	case m == Impacts{}:
	case m.Bits != 8 && m.Bits != 16:
		return inputError("impacts of %d bits; possible are 8 and 16", m.Bits)
	case !slices.Contains([]string{ImpactsBM25, ImpactsWeights}, m.Origin):
		return inputError("impacts of the unknown origin %q", m.Origin)
	case !(m.Scale >= 0 && m.Scale <= math.MaxFloat64): // NaN too
		return inputError("impacts of the scale %v", m.Scale)
	case !utf8.ValidString(m.Variant):
		return inputError("meta data %q is not UTF-8", m.Variant)
	}
	return nil
}
