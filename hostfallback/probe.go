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
// With bits set it takes one load a candidate, with runs one step for each run and
// candidate outside of runs. Otherwise candidates first pass
// the sieve, if there is one, and are then looked for by find in docs or, where
// the list is compressed, in its blocks.
type prober struct {
	handle plan.Handle
	bits   []uint32
	sieve  []uint32
	runs   []uint32
	at     int // in runs
	find   finder
	docs   []uint32
	packed bool // look in blocks, not docs
	blocks blocks
}

// open makes p look about candidates docIDs up in list h of s under algorithm a,
// and builds the tables that it needs.
func (p *prober) open(s *store, a plan.Algorithm, h plan.Handle, candidates int) error {
	p.handle, p.bits, p.sieve, p.docs, p.packed, p.runs, p.at = h, nil, nil, nil, false, nil, 0
	l := s.src.List(h)
	if a == plan.Auto {
		t, err := s.tables.auto(h)
		if err != nil {
			return err
		}
		if len(t.runs) > 0 && runsPay*len(t.runs) < 2*candidates {
			p.runs = t.runs
			return nil
		}
		p.bits, p.sieve, p.docs, p.find = t.bits, t.sieve, t.docs, finder{algorithm: plan.BS}
		if t.bucket.first != nil {
			p.find.bucket = &t.bucket
		}
		if p.bits != nil || p.docs != nil {
			return nil
		}
	} else if err := p.find.open(s, a, h, candidates); err != nil {
		return err
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

// runsPay is how many candidates there must be for each run of a list for runs to
// be worth more than bits or buckets.
const runsPay = 4

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
	if p.runs != nil {
		n := 0
		n, p.at = filterRuns(dst, cand, p.runs, p.at)
		return n, nil
	}
	if p.bits != nil {
		if scattered {
			touch(cand, p.bits)
		}
		return filterBits(dst, cand, p.bits), nil
	}
	if p.sieve != nil {
		cand = dst[:filterSieve(dst, cand, p.sieve)]
	}
	if p.packed {
		return p.blocks.filter(dst, cand, &p.find)
	}
	return p.find.filter(dst, cand, p.docs), nil
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
