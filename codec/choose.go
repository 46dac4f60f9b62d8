package codec

import "slices"

// Auto is what to ask Choose for to have the codec of least cost.
const Auto ID = 0

// Reason says why a list has its codec.
type Reason uint8

const (
	// Asked: the codec that was asked for takes fewer words than Raw.
	Asked Reason = iota
	// NotSmaller: the codec that was asked for does not, so the list is Raw.
	NotSmaller
	// Dense: more than one document in 32 has the term, and a Bitset takes fewer
	// words than Raw.
	Dense
	// LeastCost: no codec has a lower Cost.
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

// Choose names the codec for docs, whose docIDs are below universe:
//
//   - Bitset when more than one document in 32 has the term and a Bitset takes
//     fewer words than Raw;
//   - else want where that takes fewer words than Raw, and Raw where it does not,
//     so that no list takes more words than it has docIDs;
//   - for Auto, that of the Candidates that has the least Cost, the first of
//     equals.
//
// A universe of 0 leaves Bitset to want: it is taken neither for density nor for
// its cost.
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

// leastCost is the rule of Auto.
func leastCost(docs []uint32, bitset bool, opt Options) ID {
	best, least := Raw, cost(Raw, len(docs), len(docs))
	for _, id := range ids {
		if !id.row().Auto || id == Bitset && !bitset || cost(id, len(docs), 0) >= least {
			continue // a size would change nothing
		}
		if c := cost(id, len(docs), Size(id, docs, opt)); c < least {
			best, least = id, c
		}
	}
	return best
}

// Candidates returns the codecs that Auto compares: those with Descriptor.Auto.
func Candidates() []ID {
	return slices.DeleteFunc(IDs(), func(id ID) bool { return !id.row().Auto })
}

// The rule of Auto weighs size against speed:
//
//	cost = bits a docID + timePrice * (decode + probe/sparsity) / 2
//
// A list is as often decoded whole, being the shortest of a query, as it is
// probed by one of a 64th of its length, so a docID of it takes the mean of the
// two times. A nanosecond of that is worth two bits: a codec that takes a
// nanosecond longer must be two bits a docID smaller.
const (
	timePrice = 2 // bits a nanosecond
	sparsity  = 64
)

// CostRule says so in a line.
const CostRule = "cost of a posting: its bits, and 2 bits a nanosecond for half its decoding and half a 64th of a probe"

// cost is n times the cost of a docID, in thousandths of a bit, so that equal
// lists get equal codecs on every machine.
func cost(id ID, n, words int) int64 {
	d := id.row()
	return 32_000*int64(words) + int64(n)*timePrice*(d.decodeTime+d.probeTime/sparsity)/2
}

// Cost is what the rule of Auto compares, for n docIDs that take words words
// under codec id: bits a docID for size, and for time. It is 0 for no docIDs.
func Cost(id ID, n, words int) (size, time float64) {
	if n == 0 {
		return 0, 0
	}
	return 32 * float64(words) / float64(n), float64(cost(id, n, 0)) / 1000 / float64(n)
}
