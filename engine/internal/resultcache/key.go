package resultcache

import (
	"cmp"
	"encoding/binary"
	"slices"

	"heddle/engine/index/bm25"
	"heddle/engine/plan"
)

// Key is the normal form of a query on an index: whatever changes the answer is in it,
// and nothing else. The methods build one in the memory of their receiver, which may be
// nil, and return it as append does.
type Key []byte

// The kind of a query: the byte after the checksum.
const (
	keyAnd = iota
	keyAndCount
	keyBoolean
	keyBooleanCount
	keyRank
	keyRankAmong
)

// usual is for how many terms no memory is allocated.
const usual = 16

// And is the key of the documents in all lists, of an index with this checksum; with count,
// of their number. The order of lists and duplicates do not matter. Without lists it is the
// key of the empty set.
func (k Key) And(index uint64, lists []plan.Handle, count bool) Key {
	var few [usual]plan.Handle
	return k.and(index, append(few[:0], lists...), count)
}

// and may change lists.
func (k Key) and(index uint64, lists []plan.Handle, count bool) Key {
	k = k.begin(index, keyAnd, count)
	slices.Sort(lists)
	for _, h := range slices.Compact(lists) {
		k = binary.BigEndian.AppendUint32(k, h)
	}
	return k
}

// Boolean is the key of the documents of an expression in canonical form, as
// plan.MatchBatch.AddExpr makes it; with count of how many there are. An expression that is an AND
// of lists has the key of And.
func (k Key) Boolean(index uint64, ops []plan.Op, count bool) Key {
	var few [usual]plan.Handle
	lists, conjunction := few[:0], true
	for _, op := range ops {
		if op.Code == plan.OpList {
			lists = append(lists, op.List)
		} else if op.Code != plan.OpAnd {
			conjunction = false
			break
		}
	}
	if conjunction {
		return k.and(index, lists, count)
	}
	k = k.begin(index, keyBoolean, count)
	for _, op := range ops {
		k = append(k, byte(op.Code))
		if op.Code == plan.OpList {
			k = binary.BigEndian.AppendUint32(k, op.List)
		}
	}
	return k
}

// Ranked is the options that the best documents depend on, beside the terms.
type Ranked struct {
	Mode  uint8  // which documents match: the caller's own numbers
	K     int    // documents
	Total uint64 // number up to which matching documents are counted
	Norm  plan.Norm
	Scale bm25.Scale // scale of the weights of the terms
	// Missing says that a term of the query is in no document, in modes where that
	// matters and terms do not show it.
	Missing bool
}

// Rank is the key of the best documents of a ranked query with these terms, weighed in
// units of opt.Scale. The order of terms does not matter, and weights of the same list
// add up.
func (k Key) Rank(index uint64, opt Ranked, terms []plan.Term) Key {
	k = k.begin(index, keyRank, false)
	missing := byte(0)
	if opt.Missing {
		missing = 1
	}
	k = append(k, opt.Mode, missing, opt.Norm.Impacts, opt.Norm.Shift)
	k = binary.BigEndian.AppendUint32(k, opt.Norm.Base)
	k = binary.BigEndian.AppendUint32(k, opt.Norm.Slope)
	k = binary.BigEndian.AppendUint64(k, uint64(opt.K))
	k = binary.BigEndian.AppendUint64(k, opt.Total)
	k = binary.BigEndian.AppendUint64(k, uint64(opt.Scale))

	var few [usual]plan.Term
	sorted := append(few[:0], terms...)
	slices.SortFunc(sorted, func(x, y plan.Term) int { return cmp.Compare(x.List, y.List) })
	for i := 0; i < len(sorted); {
		list, weight := sorted[i].List, uint64(0)
		for ; i < len(sorted) && sorted[i].List == list; i++ {
			weight += uint64(sorted[i].Weight)
		}
		k = binary.BigEndian.AppendUint32(k, list)
		k = binary.BigEndian.AppendUint64(k, weight)
	}
	return k
}

// Among turns the key of a ranked query into the key of its best documents among the
// documents of an expression: of ops, or of a conjunction of lists, as plan.MatchBatch.AddExpr
// makes them.
func (k Key) Among(ops []plan.Op, lists []plan.Handle) Key {
	k[8] = keyRankAmong
	for _, op := range ops {
		k = append(k, byte(op.Code))
		k = binary.BigEndian.AppendUint32(k, op.List)
	}
	for _, h := range lists {
		k = binary.BigEndian.AppendUint32(k, h)
	}
	// The numbers make the end of the terms certain.
	k = binary.BigEndian.AppendUint32(k, uint32(len(ops)))
	return binary.BigEndian.AppendUint32(k, uint32(len(lists)))
}

// filtered marks the kind of a query with a filter, and complement of a query for all other documents.
const filtered, complement = 0x80, 0x40

// Complement turns the key of a query into the key of all documents but its own.
func (k Key) Complement() Key {
	k[8] |= complement
	return k
}

// Within turns the key of a query into the key of its answer among the documents of a filter with
// this digest.
func (k Key) Within(filter *[32]byte) Key {
	k[8] |= filtered
	return append(k, filter[:]...)
}

// begin takes a kind whose successor is the same with counts.
func (k Key) begin(index uint64, kind byte, count bool) Key {
	if count {
		kind++
	}
	return append(binary.BigEndian.AppendUint64(k[:0], index), kind)
}
