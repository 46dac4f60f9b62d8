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
// Under Auto it uses the list's table. Otherwise it takes one load a candidate
// from bits, or has find look for it in docs or, where the list is compressed, in
// its blocks.
type prober struct {
	handle plan.Handle
	auto   *autoTable // nil unless it has all that is needed
	words  bool       // use the words of auto
	at     int        // in those
	bits   []uint32

	sieve  []uint32
	find   finder
	docs   []uint32
	packed bool // look in blocks, not docs
	blocks blocks
}

// open makes p look about candidates docIDs up in list h of s under algorithm a,
// and builds the tables that it needs; t is the one of Auto, or nil.
func (p *prober) open(s *store, a plan.Algorithm, h plan.Handle, t *autoTable, candidates int) error {
	p.handle, p.auto, p.bits = h, nil, nil
	if t != nil {
		p.at = 0
		if p.words = t.wordsPay(candidates); p.words {
			p.auto = t
			return nil
		}
		if t.bits != nil || t.docs != nil {
			p.auto, p.bits = t, t.bits
			return nil
		}
	}
	p.sieve, p.docs, p.packed = nil, nil, false
	if t != nil {
		p.sieve, p.find = t.sieve, finder{algorithm: plan.BS}
		if t.bucket.first != nil {
			p.find.bucket = &t.bucket
		}
	} else if err := p.find.open(s, a, h, candidates); err != nil {
		return err
	}
	l := s.src.List(h)
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
	default:
		p.packed = true
		if err := p.blocks.open(l); err != nil {
			return named(h, err)
		}
	}
	if a == plan.Bits && l.Len > 0 {
		return p.openBits(s, h)
	}
	return nil
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
	if p.find.bucket, err = s.tables.bucket(h, plan.HS16); errors.Is(err, plan.ErrOutOfMemory) {
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
	if p.auto != nil {
		return p.filterAuto(dst, cand), nil
	}
	if p.sieve != nil {
		cand = dst[:filterSieve(dst, cand, p.sieve)]
	}
	if p.packed {
		return p.blocks.filter(dst, cand, &p.find)
	}
	return p.find.filter(dst, cand, p.docs), nil
}

// filterAuto is filter with the table of Auto, for lists without bits. Where the
// sieve lets most candidates pass, they lie close together as the list's docIDs
// do, and words serve them faster than buckets.
func (p *prober) filterAuto(dst, cand []uint32) (n int) {
	t, words := p.auto, p.words
	if !words && t.sieve != nil {
		before := len(cand)
		cand = dst[:filterSieve(dst, cand, t.sieve)]
		words = len(t.words.index) > 0 && 2*len(cand) > before
	}
	switch {
	case words:
		n, p.at = t.words.filter(dst, cand, p.at)
	case t.bucket.first != nil:
		n = filterBuckets(dst, cand, t.docs, &t.bucket)
	default:
		n = filterBinary(dst, cand, t.docs)
	}
	return n
}

// rawDocs are the docIDs of a raw list; their order is not checked.
func rawDocs(l codec.List) ([]uint32, error) {
	if uint64(len(l.Words)) != uint64(l.Len) {
		return nil, &codec.CorruptError{Codec: l.Codec, Reason: fmt.Sprintf("%d words for %d docIDs", len(l.Words), l.Len)}
	}
	return l.Words, nil
}

// named says which list an error is about.
func named(h plan.Handle, err error) error {
	if err != nil {
		err = fmt.Errorf("list %d: %w", h, err)
	}
	return err
}
