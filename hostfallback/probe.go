package hostfallback

import (
	"errors"
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// prober keeps, of ascending candidates, those that one list has. It belongs to
// one goroutine and is reused from query to query.
//
// With bits set it takes one load a candidate. Otherwise it searches the docIDs,
// or the segments of a compressed list, in the range that line or bucket gives,
// or in the whole list when both are nil.
type prober struct {
	bits   []uint32 // bit x%32 of word x/32
	docs   []uint32 // all docIDs of a raw list
	line   *codec.Line
	bucket *buckets
	n      uint32 // number of docIDs

	packed  bool // search segs, not docs
	segs    codec.Segments
	cached  int // segment in segment, -1 for none
	segment []uint32
	buf     [codec.SegmentLen]uint32
}

// open makes p look up list h of s under algorithm a, and builds the tables that
// it needs.
func (p *prober) open(s *store, a plan.Algorithm, h plan.Handle) error {
	l := s.src.List(h)
	p.bits, p.docs, p.line, p.bucket, p.packed, p.cached, p.n = nil, nil, nil, nil, false, -1, l.Len
	var err error
	switch l.Codec {
	case codec.Bitset:
		var b codec.Bits
		b, err = l.Bits()
		p.bits = b.Words
		return named(h, err)
	case codec.Raw:
		if len(l.Words) != int(l.Len) {
			return named(h, &codec.CorruptError{Codec: l.Codec, Reason: fmt.Sprintf("%d words for %d docIDs", len(l.Words), l.Len)})
		}
		p.docs = l.Words
	case codec.ParaPFor:
		p.packed = true
		if p.segs, err = l.Segments(); err != nil {
			return named(h, err)
		}
	default:
		return named(h, &codec.CorruptError{Codec: l.Codec, Reason: "unknown codec"})
	}
	switch {
	case l.Len == 0 || a == plan.BS:
	case a == plan.LR:
		p.line, err = s.tables.line(h)
	case a.Bucket() != 0 && a != plan.Bits:
		p.bucket, err = s.tables.bucket(h, a)
	default: // Auto and Bits: what there is room for
		if s.tables.dense(h) {
			var bits *[]uint32
			if bits, err = s.tables.bitset(h); err == nil {
				p.bits = *bits
				return nil
			} else if !errors.Is(err, plan.ErrOutOfMemory) {
				return err
			}
		}
		if p.bucket, err = s.tables.bucket(h, plan.HS16); errors.Is(err, plan.ErrOutOfMemory) {
			err = nil
		}
	}
	return err
}

// named says which list an error is about.
func named(h plan.Handle, err error) error {
	if err != nil {
		err = fmt.Errorf("list %d: %w", h, err)
	}
	return err
}

// filter copies the candidates that the list has to the front of dst, which may
// be cand itself and is at least as long, and returns how many there are.
func (p *prober) filter(dst, cand []uint32) (int, error) {
	switch {
	case p.bits != nil:
		return filterBits(dst, cand, p.bits), nil
	case p.packed:
		return p.filterSegments(dst, cand)
	case p.line != nil:
		return filterLine(dst, cand, p.docs, p.line), nil
	case p.bucket != nil:
		return filterBuckets(dst, cand, p.docs, p.bucket), nil
	}
	return filterBinary(dst, cand, p.docs), nil
}

// filterSegments finds the segment in the skip entries first and decodes only
// segments that may have a candidate. Candidates ascend, so the segment decoded
// last is often the one that is needed next.
func (p *prober) filterSegments(dst, cand []uint32) (int, error) {
	n := 0
	for _, x := range cand {
		lo, hi := p.find(x)
		if lo >= hi {
			continue
		}
		seg := int(lo / codec.SegmentLen)
		seg += lowerBound(p.segs.Last[seg:(hi+codec.SegmentLen-1)/codec.SegmentLen], x)
		if seg >= len(p.segs.Last) {
			continue
		}
		if seg != p.cached {
			k, err := p.segs.Decode(seg, &p.buf)
			if err != nil {
				p.cached = -1
				return 0, err
			}
			p.cached, p.segment = seg, p.buf[:k]
		}
		if contains(p.segment, x) {
			dst[n] = x
			n++
		}
	}
	return n, nil
}

// find is the range of indexes where x must be if the list has it.
func (p *prober) find(x uint32) (lo, hi uint32) {
	switch {
	case p.line != nil:
		return p.line.Range(x, p.n)
	case p.bucket != nil:
		return p.bucket.find(x)
	}
	return 0, p.n
}
