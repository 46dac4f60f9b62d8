package group

import (
	"cmp"
	"slices"

	"heddle/codec/bitslice"
	"heddle/engine/table/gather"
)

// codes are the different codes of each group, and the number of rows of each. A pair is the number of
// a group, times size, plus the number of a code.
type codes struct {
	*numbers
	size    uint64     // of numbers
	counts  []uint32   // rows by pair; nil: pairs are sorted
	waiting [][]uint16 // places in parts of counts, by part: counted together, since counts are larger than the nearest caches
	used    int        // pairs with rows in counts
	pending []uint64   // pairs that are not in sorted
	sorted  []frequency
	memory  []uint64
	former  []frequency
}

// frequency is a number of rows with one pair.
type frequency struct{ pair, rows uint64 }

const (
	mostCounts   = 1 << 22 // greatest length of codes.counts
	leastPending = 1 << 21 // pairs that are sorted at a time

	leastWaiting = 1 << 20 // least length of codes.counts whose places wait
	partCounts   = 1 << 14 // counts of a part
	partPlaces   = 1 << 12 // places that wait for a part
)

func newCodes(of *gather.Column) *codes {
	n := newNumbers(of)
	return &codes{numbers: n, size: n.size()}
}

// makeRoom takes an array for all pairs of groups with places, if it is small beside the number of rows, else room for pending
// pairs. Groups without places are 0.
func (s *codes) makeRoom(groups int, rows uint64) {
	if n := min(s.size, mostCounts+1) * uint64(groups); n > 0 && s.numbers.codes == nil && n <= min(mostCounts, 1<<12+4*rows) {
		s.counts = make([]uint32, n)
		if n >= leastWaiting {
			s.waiting = make([][]uint16, (n+partCounts-1)/partCounts)
		}
		return
	}
	s.pending = make([]uint64, 0, min(leastPending+bitslice.TileRows, rows))
}

func (s *codes) grow(int) {}

func (s *codes) add(ids []uint32, codes []uint64) {
	ids = ids[:len(codes)]
	if s.waiting != nil {
		for i, c := range codes {
			pair := uint64(ids[i])*s.size + c + 1
			part := &s.waiting[pair/partCounts]
			if *part = append(*part, uint16(pair%partCounts)); len(*part) == partPlaces {
				s.countPart(int(pair / partCounts))
			}
		}
		return
	}
	if s.counts != nil {
		for i, c := range codes {
			n := &s.counts[uint64(ids[i])*s.size+c+1]
			if *n == 0 {
				s.used++
			}
			*n++
		}
		return
	}
	if s.numbers.codes == nil {
		for i, c := range codes {
			s.pending = append(s.pending, uint64(ids[i])*s.size+c+1)
		}
	} else {
		for i, c := range codes {
			s.pending = append(s.pending, uint64(ids[i])*s.size+uint64(s.number(c)))
		}
	}
	if len(s.pending) >= max(leastPending, len(s.sorted)/2) {
		s.sort()
	}
}

// countPart counts the places that wait for a part.
func (s *codes) countPart(i int) {
	counts := s.counts[i*partCounts:]
	for _, place := range s.waiting[i] {
		if counts[place] == 0 {
			s.used++
		}
		counts[place]++
	}
	s.waiting[i] = s.waiting[i][:0]
}

// settle counts or sorts all pairs that were added.
func (s *codes) settle() {
	if s.counts == nil {
		s.sort()
	}
	for i := range s.waiting {
		s.countPart(i)
	}
}

// different is the number of pairs, without the pending ones.
func (s *codes) different() int { return s.used + len(s.sorted) }

// sort moves the pending pairs to sorted.
func (s *codes) sort() {
	s.memory = slices.Grow(s.memory[:0], len(s.pending))[:len(s.pending)]
	sortPairs(s.pending, s.memory)
	s.join(func(yield func(frequency) bool) {
		for i := 0; i < len(s.pending); {
			first := i
			for i < len(s.pending) && s.pending[i] == s.pending[first] {
				i++
			}
			if !yield(frequency{s.pending[first], uint64(i - first)}) {
				return
			}
		}
	})
	s.pending = s.pending[:0]
}

// join adds frequencies, whose pairs ascend, to sorted.
func (s *codes) join(others func(yield func(frequency) bool)) {
	old, all := s.sorted, slices.Grow(s.former[:0], len(s.sorted)+len(s.pending))
	for f := range others {
		for len(old) > 0 && old[0].pair < f.pair {
			all, old = append(all, old[0]), old[1:]
		}
		if len(old) > 0 && old[0].pair == f.pair {
			f.rows += old[0].rows
			old = old[1:]
		}
		all = append(all, f)
	}
	s.former, s.sorted = s.sorted, append(all, old...)
}

// each yields the pairs that have rows, ascending.
func (s *codes) each(yield func(frequency) bool) {
	s.settle()
	for _, f := range s.sorted {
		if !yield(f) {
			return
		}
	}
	for pair, n := range s.counts {
		if n > 0 && !yield(frequency{uint64(pair), uint64(n)}) {
			return
		}
	}
}

func (s *codes) merge(other cells, into []uint32) {
	o := other.(*codes)
	o.settle()
	s.settle()
	if s.counts != nil { // groups have places, which are equal
		for i, n := range o.counts {
			if s.counts[i] == 0 && n > 0 {
				s.used++
			}
			s.counts[i] += n
		}
		return
	}
	var all []frequency
	for f := range o.each {
		number := s.translate(o.numbers, uint32(f.pair%s.size))
		all = append(all, frequency{uint64(into[f.pair/s.size])*s.size + uint64(number), f.rows})
	}
	slices.SortFunc(all, func(a, b frequency) int { return cmp.Compare(a.pair, b.pair) })
	s.join(slices.Values(all))
}

// of gives the frequencies of so many groups, with ascending codes.
func (s *codes) of(groups int) [][]Frequency {
	list := make([][]Frequency, groups)
	s.settle()
	all := make([]Frequency, 0, s.different())
	group, first := uint64(0), 0
	end := func() { list[group] = all[first:len(all):len(all)] }
	for f := range s.each {
		if g := f.pair / s.size; g != group {
			end()
			group, first = g, len(all)
		}
		all = append(all, Frequency{s.code(uint32(f.pair % s.size)), f.rows})
	}
	if len(all) > 0 {
		end()
	}
	if s.numbers.codes != nil {
		for _, of := range list {
			slices.SortFunc(of, func(a, b Frequency) int { return cmp.Compare(a.Code, b.Code) })
		}
	}
	return list
}

// digit is the number of bits by which pairs are sorted at a time.
const digit = 11

// sortPairs sorts pairs by their digits, from the lowest on. memory is as long.
func sortPairs(pairs, memory []uint64) {
	differ := uint64(0)
	for _, p := range pairs {
		differ |= p ^ pairs[0]
	}
	from, to := pairs, memory
	for shift := 0; differ>>shift != 0; shift += digit {
		if differ>>shift&(1<<digit-1) == 0 {
			continue
		}
		var next [1 << digit]int
		for _, p := range from {
			next[p>>(shift&63)&(1<<digit-1)]++
		}
		place := 0
		for i, n := range next {
			next[i], place = place, place+n
		}
		for _, p := range from {
			at := &next[p>>(shift&63)&(1<<digit-1)]
			to[*at] = p
			*at++
		}
		from, to = to, from
	}
	if len(pairs) > 0 && &from[0] != &pairs[0] {
		copy(pairs, from)
	}
}
