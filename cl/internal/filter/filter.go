// Package filter restricts the answers of a device to sets of documents.
//
// The bits of a set stay in the memory of the host, where the answers of a device arrive: a boolean
// query gives all its documents, a ranked query more of the best documents than it was asked for.
// The documents that do not pass are removed. Scores are total, so the best documents that pass are
// among the best of all: the answer is exact as soon as enough of them pass.
package filter

import (
	"fmt"
	"math/bits"

	"heddle/engine/plan"
)

// Set is a set of documents. It does not change. It implements plan.Filter.
type Set struct {
	universe uint32
	count    uint32
	bits     []uint64
}

// New returns the set of the documents of a universe whose bits are set. It copies them.
func New(universe uint32, set []uint64) (*Set, error) {
	if err := plan.CheckFilter(universe, set); err != nil {
		return nil, err
	}
	s := &Set{universe: universe, bits: append([]uint64(nil), set...)}
	for _, x := range set {
		s.count += uint32(bits.OnesCount64(x))
	}
	return s, nil
}

// all returns the sets behind filters of a universe, nil for nil; no sets if no filter is set. A
// filter of another backend or universe gives plan.ErrUnsupported.
func all(filters []plan.Filter, universe uint32) (sets []*Set, err error) {
	for i, f := range filters {
		if f == nil {
			continue
		}
		s, ok := f.(*Set)
		if !ok || s.universe != universe {
			return nil, fmt.Errorf("%w: the filter of query %d is not of this store", plan.ErrUnsupported, i)
		}
		if sets == nil {
			sets = make([]*Set, len(filters))
		}
		sets[i] = s
	}
	return sets, nil
}

// has tells whether document x passes. A nil set has all documents.
func (s *Set) has(x uint32) bool {
	return s == nil || s.bits[x/64]>>(x%64)&1 != 0
}

// docs returns the documents, ascending.
func (s *Set) docs() []uint32 {
	docs := make([]uint32, 0, s.count)
	for i, x := range s.bits {
		for ; x != 0; x &= x - 1 {
			docs = append(docs, uint32(64*i+bits.TrailingZeros64(x)))
		}
	}
	return docs
}

// Universe implements plan.Filter.
func (s *Set) Universe() uint32 { return s.universe }

// Count implements plan.Filter.
func (s *Set) Count() uint32 { return s.count }

// Memory implements plan.Filter.
func (s *Set) Memory() uint64 { return 8 * uint64(len(s.bits)) }

// Close implements plan.Filter. The garbage collector frees the memory.
func (s *Set) Close() error { return nil }
