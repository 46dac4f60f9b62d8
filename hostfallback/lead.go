package hostfallback

import (
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// blockLen is the number of candidates that go through the lists of a query
// together: 4 KiB of docIDs, so that a block stays in the first-level cache.
const blockLen = 1024

// stepLen is the most docIDs that one step of a lead yields: 512 docIDs of a raw
// list, four segments of a compressed one, one block of a bitset.
const stepLen = 512

// lead reads the shortest list of a query in steps.
type lead struct {
	list  codec.List
	segs  codec.Segments
	ranks codec.Bits
	steps int

	// Under Auto:
	bits      []uint32 // if there are some
	dense     bool     // they are better joined word by word than turned into docIDs
	scattered bool     // its docIDs hit few cache lines of a bitset
}

func (l *lead) open(s *store, a plan.Algorithm, h plan.Handle) error {
	l.list, l.dense, l.scattered = s.src.List(h), false, false
	if a == plan.Auto {
		t, err := s.tables.auto(h)
		if err != nil {
			return err
		}
		if t.docs != nil {
			l.list = codec.List{Codec: codec.Raw, Len: l.list.Len, Words: t.docs}
		}
		l.bits, l.scattered = t.bits, t.scattered
		l.dense = t.bits != nil && (l.list.Codec == codec.Bitset || s.tables.denser(h, denseLead))
	}
	var err error
	switch l.list.Codec {
	case codec.Raw:
		_, err = rawDocs(l.list)
		l.steps = (len(l.list.Words) + stepLen - 1) / stepLen
	case codec.ParaPFor:
		l.segs, err = l.list.Segments()
		l.steps = (len(l.segs.Last) + stepLen/codec.SegmentLen - 1) / (stepLen / codec.SegmentLen)
	case codec.Bitset:
		l.ranks, err = l.list.Bits()
		l.steps = len(l.ranks.Ranks)
	default:
		err = errCodec(l.list)
	}
	return named(h, err)
}

// next returns the docIDs from step at on, up to blockLen of them or to step end,
// and the step after them. They lie in the list itself or in buf.
func (l *lead) next(at, end int, buf *[blockLen + 3]uint32) ([]uint32, int, error) {
	switch l.list.Codec {
	case codec.Raw:
		to := min(at+blockLen/stepLen, end)
		return l.list.Words[at*stepLen : min(to*stepLen, len(l.list.Words))], to, nil
	case codec.ParaPFor:
		const perStep = stepLen / codec.SegmentLen
		to := min(at+blockLen/stepLen, end)
		n := 0
		for seg := at * perStep; seg < min(to*perStep, len(l.segs.Last)); seg++ {
			k, err := l.segs.Decode(seg, (*[codec.SegmentLen]uint32)(buf[n:]))
			if err != nil {
				return nil, to, err
			}
			n += k
		}
		return buf[:n], to, nil
	}
	n := 0
	var words [stepLen / 64]uint64
	for ; at < end && n <= blockLen-stepLen; at++ {
		before := n
		join(words[:], l.ranks.Words[at*stepLen/32:])
		n += expand(buf[n:], words[:], uint32(at*stepLen))
		// The ranks say how many there must be; with that check no list can give
		// more docIDs than its length.
		from, to := l.ranks.Ranks[at], l.list.Len
		if at+1 < len(l.ranks.Ranks) {
			to = l.ranks.Ranks[at+1]
		}
		if uint32(n-before) != to-from || at == 0 && from != 0 {
			return nil, at, &codec.CorruptError{Codec: codec.Bitset, Word: at * stepLen / 32, Reason: fmt.Sprintf("%d docIDs in a block that ranks from %d to %d", n-before, from, to)}
		}
	}
	return buf[:n], at, nil
}
