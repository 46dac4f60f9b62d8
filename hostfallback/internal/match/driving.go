package match

import (
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// blockLen is the number of candidates that are looked up together in the lists of a query: 4 KiB
// of docIDs, which stay in the first-level cache.
const blockLen = 1024

// stepLen is the greatest number of docIDs in one step of a plain list: 512 docIDs of a raw
// list, one block of a bitset. A step of a compressed list is one block.
const stepLen = 512

// drivingList reads the driving list of a conjunction, the shortest list, in steps.
type drivingList struct {
	list   codec.List
	blocks codec.Blocks
	bitset codec.Bits
	steps  int
	buf    []uint32

	decoded uint64 // number of decoded blocks since the last worker.decoded

	// The forms of a list that plan.Auto has prepared:
	bits      []uint32     // nil without bits
	words     docset.Words // empty without words
	dense     bool         // bits are joined word by word instead of turned into docIDs
	scattered bool         // the docIDs hit few cache lines of a bitset
}

// open positions l at the start of list h. t is the prepared form of the list, nil without one.
// The caller needs only the docIDs in within; open skips other docIDs where that costs little.
func (l *drivingList) open(aux *lookup.Auxiliary, h plan.Handle, t *lookup.Prepared, within docset.Interval) error {
	l.list, l.words, l.dense, l.scattered = aux.Source.List(h), docset.Words{}, false, false
	if t != nil {
		if t.Docs != nil {
			docs := within.Cut(t.Docs)
			l.list = codec.List{Codec: codec.Raw, Len: uint32(len(docs)), Words: docs}
		}
		l.bits, l.words, l.scattered = t.Bits, t.Words, t.Scattered
		l.dense = t.Bits != nil && (l.list.Codec == codec.Bitset || aux.Denser(h, lookup.DenseJoin))
	}
	var err error
	switch l.list.Codec {
	case codec.Raw:
		_, err = lookup.RawDocs(l.list)
		l.steps = (len(l.list.Words) + stepLen - 1) / stepLen
	case codec.Bitset:
		l.bitset, err = l.list.Bits()
		l.steps = len(l.bitset.Ranks)
	default:
		err = l.blocks.Open(l.list)
		l.steps = l.blocks.Count()
	}
	return lookup.Named(h, err)
}

// openDocs positions l at the start of ascending docIDs.
func (l *drivingList) openDocs(docs []uint32) {
	l.list = codec.List{Codec: codec.Raw, Len: uint32(len(docs)), Words: docs}
	l.bits, l.words, l.dense, l.scattered = nil, docset.Words{}, false, false
	l.steps = (len(docs) + stepLen - 1) / stepLen
}

// next returns the docIDs of step at and of the following steps before end, up to blockLen docIDs or
// one step, and the number of the next step. The docIDs are valid until the next call.
func (l *drivingList) next(at, end int) ([]uint32, int, error) {
	switch l.list.Codec {
	case codec.Raw:
		to := min(at+blockLen/stepLen, end)
		return l.list.Words[at*stepLen : min(to*stepLen, len(l.list.Words))], to, nil
	case codec.Bitset:
		return l.nextBits(at, end)
	}
	docs := l.buf[:0]
	for from := l.blocks.Start(at); at < end && (len(docs) == 0 || l.blocks.Start(at+1)-from <= blockLen); at++ {
		var err error
		if docs, err = l.blocks.Decode(docs, at); err != nil {
			return nil, at, err
		}
		l.decoded++
	}
	l.buf = docs
	return docs, at, nil
}

// nextBits is next for a bitset.
func (l *drivingList) nextBits(at, end int) ([]uint32, int, error) {
	buf := slices.Grow(l.buf[:0], blockLen+docset.Slack)[:blockLen+docset.Slack]
	l.buf = buf
	n := 0
	var words [stepLen / 64]uint64
	for ; at < end && n <= blockLen-stepLen; at++ {
		before := n
		docset.CopyBits(words[:], l.bitset.Words[at*stepLen/32:])
		n += docset.Expand(buf[n:], words[:], uint32(at*stepLen))
		// The ranks give the number of docIDs. This check bounds the docIDs of a corrupt
		// list by its length.
		from, to := l.bitset.Ranks[at], l.list.Len
		if at+1 < len(l.bitset.Ranks) {
			to = l.bitset.Ranks[at+1]
		}
		if uint32(n-before) != to-from || at == 0 && from != 0 {
			return nil, at, &codec.CorruptError{Codec: codec.Bitset, Word: at * stepLen / 32, Reason: fmt.Sprintf("%d docIDs in a block that ranks from %d to %d", n-before, from, to)}
		}
	}
	return buf[:n], at, nil
}
