// Package filter holds sets of documents that restrict queries of the pure-Go backend.
//
// A set has one bit for each document. A set of few documents has their docIDs too: a query then
// searches its lists for these documents instead of testing the bit of each match.
package filter

import (
	"math/bits"
	"slices"

	"heddle/engine/plan"
)

// Set is a set of documents. It does not change. It implements plan.Filter.
type Set struct {
	universe uint32 // number of documents, in the set or not
	count    uint32 // number of documents in the set
	// Words has the documents as bits: bit x%32 of word x/32 is document x. Their number is
	// even.
	Words []uint32
	// Docs are the documents in ascending order. It is nil if more than one in sparse documents
	// of the universe are in the set.
	Docs []uint32
}

// sparse is the least number of documents of the universe for each document of a set with Docs: the docIDs
// then take at most the memory of the bits.
const sparse = 32

// Never is a document behind all documents.
const Never = ^uint64(0)

// New returns the set of the documents of a universe whose bits are set. It copies them.
func New(universe uint32, set []uint64) (*Set, error) {
	if err := plan.CheckFilter(universe, set); err != nil {
		return nil, err
	}
	s := &Set{universe: universe, Words: make([]uint32, 2*len(set))}
	for i, x := range set {
		s.Words[2*i], s.Words[2*i+1] = uint32(x), uint32(x>>32)
		s.count += uint32(bits.OnesCount64(x))
	}
	if uint64(s.count)*sparse > uint64(universe) {
		return s, nil
	}
	s.Docs = make([]uint32, 0, s.count)
	for i, x := range set {
		for ; x != 0; x &= x - 1 {
			s.Docs = append(s.Docs, uint32(64*i+bits.TrailingZeros64(x)))
		}
	}
	return s, nil
}

// Of returns the set of some documents of a universe, which ascend.
func Of(universe uint32, docs []uint32) *Set {
	s := &Set{universe: universe, count: uint32(len(docs)), Words: make([]uint32, 2*plan.FilterWords(universe))}
	for _, d := range docs {
		s.Words[d/32] |= 1 << (d % 32)
	}
	if uint64(s.count)*sparse <= uint64(universe) {
		s.Docs = append(make([]uint32, 0, len(docs)), docs...)
	}
	return s
}

// All returns the sets behind filters of a universe, nil for nil. It appends to dst. A filter of
// another backend or universe gives plan.ErrUnsupported.
func All(dst []*Set, filters []plan.Filter, universe uint32) ([]*Set, error) {
	if err := plan.OwnFilters(filters, func(s *Set) bool { return s.universe == universe }); err != nil {
		return nil, err
	}
	for _, f := range filters {
		s, _ := f.(*Set)
		dst = append(dst, s)
	}
	return dst, nil
}

// Has tells whether document x passes.
func (s *Set) Has(x uint32) bool {
	i := int(x / 32)
	return i < len(s.Words) && s.Words[i]>>(x%32)&1 != 0
}

// Next returns the first document from x on that passes, or Never.
func (s *Set) Next(x uint64) uint64 {
	if x >= uint64(s.universe) {
		return Never
	}
	if s.Docs != nil {
		if i, _ := slices.BinarySearch(s.Docs, uint32(x)); i < len(s.Docs) {
			return uint64(s.Docs[i])
		}
		return Never
	}
	at := int(x / 32)
	for w := s.Words[at] >> (x % 32) << (x % 32); ; w = s.Words[at] {
		if w != 0 {
			return uint64(at)*32 + uint64(bits.TrailingZeros32(w))
		}
		if at++; at == len(s.Words) {
			return Never
		}
	}
}

// And removes the documents that do not pass from a bitset whose first bit is document base, a
// multiple of 64.
func (s *Set) And(set []uint64, base uint32) {
	words := s.Words[min(int(base/32), len(s.Words)):]
	n := min(len(set), len(words)/2)
	for i := range set[:n] {
		set[i] &= uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
	clear(set[n:])
}

// Keep moves the documents that pass to the front of docs and returns their number.
func (s *Set) Keep(docs []uint32) (n int) {
	for _, x := range docs {
		docs[n] = x
		if s.Has(x) {
			n++
		}
	}
	return n
}

// Universe implements plan.Filter.
func (s *Set) Universe() uint32 { return s.universe }

// Count implements plan.Filter.
func (s *Set) Count() uint32 { return s.count }

// Memory implements plan.Filter.
func (s *Set) Memory() uint64 { return 4 * uint64(len(s.Words)+len(s.Docs)) }

// Close implements plan.Filter. The garbage collector frees the memory.
func (s *Set) Close() error { return nil }
