package lookup

import (
	"errors"
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// Prober selects the candidates that one list contains. Candidates ascend from call to
// call. A Prober belongs to one goroutine and is reused from query to query.
//
// Under plan.Auto it uses the prepared list. Otherwise it loads one bit for each candidate,
// or searches the docIDs of a raw list or the blocks of a compressed one.
type Prober struct {
	Handle plan.Handle
	auto   *Prepared // nil unless it suffices for the search
	words  bool      // search auto.Words
	at     int       // index in auto.Words of the next search
	Bits   []uint32  // bit x%32 of word x/32 is docID x; nil without bits

	sieve  []uint32
	find   finder
	docs   []uint32
	packed bool // search blocks instead of docs
	blocks blocks
}

// Open prepares p for looking up about the given number of candidates in list h under
// algorithm a, and builds the tables of a. t is the prepared list under plan.Auto, else nil.
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

// OpenBits prepares p for testing candidates against bits: bit x%32 of word x/32 is docID x.
func (p *Prober) OpenBits(bits []uint32) { p.auto, p.Bits = nil, bits }

// openBits selects a bitset for a dense list and HS16 for a sparse one, as far as memory
// allows.
func (p *Prober) openBits(aux *Auxiliary, h plan.Handle) error {
	if aux.Denser(h, plan.DenseRatio) {
		bits, err := aux.bitset(h, nil)
		if err == nil {
			p.Bits = bits.Words
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

// Filter copies the candidates that the list contains to the front of dst and returns their
// number. dst is at least as long as cand and may be cand. scattered tells that candidates
// hit few cache lines of a bitset.
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

// filterAuto is Filter for a prepared list without bits. If most candidates pass the sieve,
// they are clustered like the docIDs of the list, and words are faster than buckets.
func (p *Prober) filterAuto(dst, cand []uint32) (n int) {
	t, words := p.auto, p.words
	if !words && t.sieve != nil {
		before := len(cand)
		cand = dst[:filterSieve(dst, cand, t.sieve)]
		words = len(t.Words.Index) > 0 && 2*len(cand) > before
	}
	switch {
	case words:
		n, p.at = t.Words.Filter(dst, cand, p.at)
	case t.bucket.First != nil:
		n = filterBuckets(dst, cand, t.Docs, &t.bucket)
	default:
		n = filterBinary(dst, cand, t.Docs)
	}
	return n
}

// Decoded returns the number of blocks that p has decoded since the last call.
func (p *Prober) Decoded() uint64 {
	n := p.blocks.decoded
	p.blocks.decoded = 0
	return n
}

// RawDocs returns the docIDs of a raw list. It does not check their order.
func RawDocs(l codec.List) ([]uint32, error) {
	if uint64(len(l.Words)) != uint64(l.Len) {
		return nil, &codec.CorruptError{Codec: l.Codec, Reason: fmt.Sprintf("%d words for %d docIDs", len(l.Words), l.Len)}
	}
	return l.Words, nil
}

// Named adds the number of a list to an error.
func Named(h plan.Handle, err error) error {
	if err != nil {
		err = fmt.Errorf("list %d: %w", h, err)
	}
	return err
}
