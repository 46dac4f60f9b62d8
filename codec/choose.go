package codec

import "slices"

// Auto asks Choose for the codec of least cost.
const Auto ID = 0

// Reason is the reason for the codec of a list.
type Reason uint8

const (
	// Asked: the requested codec takes fewer words than Raw.
	Asked Reason = iota
	// NotSmaller: the requested codec takes no fewer words, so the list is Raw.
	NotSmaller
	// Dense: more than one document in 32 has the term, and a Bitset takes fewer
	// words than Raw.
	Dense
	// LeastCost: no codec has a lower Cost, as Choose compares them.
	LeastCost
)

func (r Reason) String() string {
	return [...]string{
		"as asked for",
		"what was asked for takes no fewer words",
		"in more than one document of 32: a probe is one load",
		"least cost",
	}[r]
}

// Choice is the codec for a list.
type Choice struct {
	ID     ID
	Reason Reason
}

// Choose returns the codec for docs, whose docIDs are below universe. The rules are,
// in this order:
//
//   - Bitset if more than one document in 32 has the term and a Bitset takes fewer
//     words than Raw.
//   - For Auto, the codec of least Cost among Candidates, the first of equals.
//   - want if it takes fewer words than Raw.
//   - Raw. So no list takes more words than it has docIDs.
//
// With a universe of 0, Choose returns Bitset only for want = Bitset.
func Choose(want ID, docs []uint32, universe uint32, opt Options) Choice {
	switch {
	case universe > 0 && uint64(len(docs))*32 > uint64(universe) && sizeBitset(docs) < len(docs):
		return Choice{Bitset, Dense}
	case want == Auto:
		return Choice{leastCost(docs, universe > 0, opt), LeastCost}
	case want == Raw || Size(want, docs, opt) < len(docs):
		return Choice{want, Asked}
	}
	return Choice{Raw, NotSmaller}
}

// leastCost returns the codec of Auto. bitset allows Bitset.
func leastCost(docs []uint32, bitset bool, opt Options) ID {
	best, least := Raw, cost(Raw, len(docs), len(docs))
	if len(docs) <= fewestWords {
		return best
	}
	large := gapWidths(docs)
	for _, id := range ids {
		d := id.row()
		if !d.Auto || id == Bitset && !bitset || cost(id, len(docs), 0) >= least {
			continue
		}
		if d.least != nil && cost(id, len(docs), d.least(docs, large, opt)) >= least {
			continue
		}
		if c := cost(id, len(docs), Size(id, docs, opt)); c < least {
			best, least = id, c
		}
	}
	return best
}

// fewestWords is the least number of words of a list in any codec but Raw. A Raw docID costs the least
// time, so shorter lists are Raw.
const fewestWords = 3

// Candidates returns the codecs that Auto compares, by Descriptor.Auto.
func Candidates() []ID {
	return slices.DeleteFunc(IDs(), func(id ID) bool { return !id.row().Auto })
}

// The rule of Auto weighs size against speed:
//
//	cost = bits a docID + timePrice * (decode + probe/sparsity) / 2
//
// The rule assumes that a list is decoded whole, as the shortest list of a query, as
// often as it is probed by a list of a 64th of its length. So a docID takes the mean
// of the two times. A nanosecond is worth two bits: a codec that takes a nanosecond
// longer must be two bits a docID smaller.
const (
	timePrice = 2 // bits a nanosecond
	sparsity  = 64
)

// CostRule is the rule of Auto in one line.
const CostRule = "cost of a posting: its bits, and 2 bits a nanosecond for half its decoding and half a 64th of a probe"

// cost returns n times the cost of a docID in thousandths of a bit. Integers give
// equal lists equal codecs on every machine.
func cost(id ID, n, words int) int64 {
	d := id.row()
	return 32_000*int64(words) + int64(n)*timePrice*(d.decodeTime+d.probeTime/sparsity)/2
}

// Cost returns the two summands of the cost of a docID, in bits: for size and for
// time. The list has n docIDs in words words of codec id. Both are 0 for no docIDs.
func Cost(id ID, n, words int) (size, time float64) {
	if n == 0 {
		return 0, 0
	}
	return 32 * float64(words) / float64(n), float64(cost(id, n, 0)) / 1000 / float64(n)
}
