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
// With bits set it takes one load a candidate. Otherwise candidates first pass
// the sieve, if there is one, and are then looked for in docs, or in the segments
// of a compressed list, in the range that line or bucket gives, or in the whole
// list when both are nil.
type prober struct {
	handle   plan.Handle
	bits     []uint32
	sieve    []uint32
	line     *codec.Line
	bucket   *buckets
	docs     []uint32
	packed   bool // search segments, not docs
	segments segments
}

// open makes p look up list h of s under algorithm a, and builds the tables that
// it needs.
func (p *prober) open(s *store, a plan.Algorithm, h plan.Handle) error {
	l := s.src.List(h)
	p.handle, p.bits, p.sieve, p.line, p.bucket, p.docs, p.packed = h, nil, nil, nil, nil, nil, false
	if a == plan.Auto {
		t, err := s.tables.auto(h)
		if err != nil {
			return err
		}
		p.bits, p.sieve, p.docs = t.bits, t.sieve, t.docs
		if t.bucket.first != nil {
			p.bucket = &t.bucket
		}
		if p.bits != nil || p.docs != nil {
			return nil
		}
	}
	switch l.Codec {
	case codec.Bitset:
		b, err := l.Bits()
		p.bits = b.Words
		return named(h, err)
	case codec.Raw:
		docs, err := rawDocs(l)
		if err != nil {
			return named(h, err)
		}
		p.docs = docs
	case codec.ParaPFor:
		view, err := l.Segments()
		if err != nil {
			return named(h, err)
		}
		p.packed, p.segments.view, p.segments.cached = true, view, -1
	default:
		return named(h, errCodec(l))
	}
	if l.Len == 0 {
		return nil
	}
	var err error
	switch {
	case a == plan.Bits:
		err = p.openBits(s, h)
	case a == plan.LR:
		p.line, err = s.tables.line(h)
	case a.Bucket() != 0:
		p.bucket, err = s.tables.bucket(h, a)
	}
	return err
}

// openBits takes a bitset if list h is dense, else HS16, as far as there is room.
func (p *prober) openBits(s *store, h plan.Handle) error {
	if s.tables.denser(h, plan.DenseRatio) {
		bits, err := s.tables.bitset(h, nil)
		if err == nil {
			p.bits = *bits
		}
		if !errors.Is(err, plan.ErrOutOfMemory) {
			return err
		}
	}
	var err error
	if p.bucket, err = s.tables.bucket(h, plan.HS16); errors.Is(err, plan.ErrOutOfMemory) {
		return nil
	}
	return err
}

// filter copies the candidates that the list has to the front of dst, which may
// be cand itself and is at least as long, and returns how many there are.
// Scattered says that candidates hit few cache lines of a bitset.
func (p *prober) filter(dst, cand []uint32, scattered bool) (int, error) {
	if p.bits != nil {
		if scattered {
			touch(cand, p.bits)
		}
		return filterBits(dst, cand, p.bits), nil
	}
	if p.sieve != nil {
		cand = dst[:filterSieve(dst, cand, p.sieve)]
	}
	switch {
	case p.packed:
		return p.segments.filter(dst, cand, p.line, p.bucket)
	case p.line != nil:
		return filterLine(dst, cand, p.docs, p.line), nil
	case p.bucket != nil:
		return filterBuckets(dst, cand, p.docs, p.bucket), nil
	}
	return filterBinary(dst, cand, p.docs), nil
}

// rawDocs are the docIDs of a raw list; their order is not checked.
func rawDocs(l codec.List) ([]uint32, error) {
	if uint64(len(l.Words)) != uint64(l.Len) {
		return nil, &codec.CorruptError{Codec: l.Codec, Reason: fmt.Sprintf("%d words for %d docIDs", len(l.Words), l.Len)}
	}
	return l.Words, nil
}

func errCodec(l codec.List) error {
	return &codec.CorruptError{Codec: l.Codec, Reason: "unknown codec"}
}

// named says which list an error is about.
func named(h plan.Handle, err error) error {
	if err != nil {
		err = fmt.Errorf("list %d: %w", h, err)
	}
	return err
}
