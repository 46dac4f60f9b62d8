package plan

import (
	"fmt"
	"strings"
)

// Algorithm says how an element of the shortest list is looked up in the longer
// lists of its query. Every algorithm gives the same result on every backend.
type Algorithm uint8

const (
	// Auto lets the backend choose per list.
	Auto Algorithm = iota
	// BS is binary search (Ao et al. 2011, section 4.2).
	BS
	// LR is binary search in the safe range of a linear regression over the
	// whole list (section 4.3), in exact integers.
	LR
	// HS8 to HS256 are binary search in a hash bucket (section 4.4); the number
	// is the mean number of docIDs in a bucket.
	HS8
	HS16
	HS32
	HS64
	HS128
	HS256
	// Bits probes an auxiliary bitset for lists dense enough to have one
	// (DenseRatio), and is HS16 for the others.
	Bits
)

// DenseRatio is the least density, as 1/DenseRatio, of a list that gets an
// auxiliary bitset under Bits: at 1/128 it costs four times the raw list.
const DenseRatio = 128

// Algorithms returns all of them but Auto.
func Algorithms() []Algorithm {
	return []Algorithm{BS, LR, HS8, HS16, HS32, HS64, HS128, HS256, Bits}
}

// String gives the name that command line and configuration use.
func (a Algorithm) String() string {
	switch a {
	case Auto:
		return "auto"
	case BS:
		return "bs"
	case LR:
		return "lr"
	case Bits:
		return "bits"
	}
	if b := a.Bucket(); b != 0 {
		return fmt.Sprintf("hs%d", b)
	}
	return fmt.Sprintf("algorithm(%d)", uint8(a))
}

// Bucket is the mean bucket size of an HS algorithm, 0 for the others. Bits
// falls back to HS16, so its bucket is 16.
func (a Algorithm) Bucket() uint32 {
	switch {
	case a >= HS8 && a <= HS256:
		return 8 << (a - HS8)
	case a == Bits:
		return 16
	}
	return 0
}

// ParseAlgorithm is the inverse of String; "hs" means HS16.
func ParseAlgorithm(s string) (Algorithm, error) {
	if strings.EqualFold(s, "hs") {
		return HS16, nil
	}
	names := []string{Auto.String()}
	if strings.EqualFold(s, Auto.String()) {
		return Auto, nil
	}
	for _, a := range Algorithms() {
		if strings.EqualFold(s, a.String()) {
			return a, nil
		}
		names = append(names, a.String())
	}
	return 0, fmt.Errorf("unknown algorithm %q (one of %s)", s, strings.Join(names, ", "))
}
