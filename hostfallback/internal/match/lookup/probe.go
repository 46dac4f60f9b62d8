package lookup

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
type Prober struct {
	Handle plan.Handle
	auto   *Prepared // nil unless it has all that is needed
	words  bool      // use the words of auto
	at     int       // in those
	Bits   []uint32

	sieve  []uint32
	find   finder
	docs   []uint32
	packed bool // look in blocks, not docs
	blocks blocks
}

// open makes p look about candidates docIDs up in list h of s under algorithm a,
// and builds the tables that it needs; t is the one of Auto, or nil.
func (p *Prober) Open(aux *Auxiliary, a plan.Algorithm, h plan.Handle, t *Prepared, candidates int) error {
	p.Handle, p.auto, p.Bits = h, nil, nil
	if t != nil {
		p.at = 0
		if p.words = t.wordsPay(candidates); p.words {
			p.auto = t
			return nil
		}
		if t.Bits != nil || t.Docs != nil {
			p.auto, p.Bits = t, t.Bits
			return nil
		}
	}
	p.sieve, p.docs, p.packed = nil, nil, false
	if t != nil {
		p.sieve, p.find = t.sieve, finder{algorithm: plan.BS}
		if t.bucket.First != nil {
			p.find.bucket = &t.bucket
		}
	} else if err := p.find.open(aux, a, h, candidates); err != nil {
		return err
	}
	l := aux.Source.List(h)
	switch l.Codec {
	case codec.Bitset:
		b, err := l.Bits()
		p.Bits = b.Words
		return Named(h, err)
	case codec.Raw:
		docs, err := RawDocs(l)
		if err != nil {
			return Named(h, err)
		}
		p.docs = docs
	default:
		p.packed = true
		if err := p.blocks.open(l); err != nil {
			return Named(h, err)
		}
	}
	if a == plan.Bits && l.Len > 0 {
		return p.openBits(aux, h)
	}
	return nil
}

// openBits takes a bitset if list h is dense, else HS16, as far as there is room.
func (p *Prober) openBits(aux *Auxiliary, h plan.Handle) error {
	if aux.Denser(h, plan.DenseRatio) {
		bits, err := aux.bitset(h, nil)
		if err == nil {
			p.Bits = *bits
		}
		if !errors.Is(err, plan.ErrOutOfMemory) {
			return err
		}
	}
	var err error
	if p.find.bucket, err = aux.bucket(h, plan.HS16); errors.Is(err, plan.ErrOutOfMemory) {
		return nil
	}
	return err
}

// filter copies the candidates that the list has to the front of dst, which may
// be cand itself and is at least as long, and returns how many there are.
// Scattered says that candidates hit few cache lines of a bitset.
func (p *Prober) Filter(dst, cand []uint32, scattered bool) (int, error) {
	if p.Bits != nil {
		if scattered {
			touch(cand, p.Bits)
		}
		return filterBits(dst, cand, p.Bits), nil
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
func (p *Prober) filterAuto(dst, cand []uint32) (n int) {
	t, words := p.auto, p.words
	if !words && t.sieve != nil {
		before := len(cand)
		cand = dst[:filterSieve(dst, cand, t.sieve)]
		words = len(t.Words.Index) > 0 && 2*len(cand) > before
	}
	switch {
	case words:
		n, p.at = t.Words.filter(dst, cand, p.at)
	case t.bucket.First != nil:
		n = filterBuckets(dst, cand, t.Docs, &t.bucket)
	default:
		n = filterBinary(dst, cand, t.Docs)
	}
	return n
}

// rawDocs are the docIDs of a raw list; their order is not checked.
func RawDocs(l codec.List) ([]uint32, error) {
	if uint64(len(l.Words)) != uint64(l.Len) {
		return nil, &codec.CorruptError{Codec: l.Codec, Reason: fmt.Sprintf("%d words for %d docIDs", len(l.Words), l.Len)}
	}
	return l.Words, nil
}

// named says which list an error is about.
func Named(h plan.Handle, err error) error {
	if err != nil {
		err = fmt.Errorf("list %d: %w", h, err)
	}
	return err
}
