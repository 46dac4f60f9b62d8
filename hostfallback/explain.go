package hostfallback

import (
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// Explain implements plan.Store. It builds the table that the method needs, so
// that what it says is what a query would do whose shortest list has a sixteenth of
// the docIDs.
func (s *store) Explain(a plan.Algorithm, h plan.Handle) string {
	if uint64(h) >= uint64(len(s.src.Lists)) {
		return fmt.Sprintf("no list %d", h)
	}
	if err := runs(a); err != nil {
		return err.Error()
	}
	p := new(prober)
	if err := p.open(s, a, h, int(s.src.Lists[h].Len)/16+1); err != nil {
		return err.Error()
	}
	l := s.src.Lists[h]
	where, sieve := "docIDs", ""
	if p.packed {
		where = fmt.Sprintf("%d blocks", p.blocks.view.Count())
	}
	if p.sieve != nil {
		sieve = fmt.Sprintf("sieve of %.1f bits a docID, then ", 32*float64(len(p.sieve))/float64(l.Len))
	}
	switch {
	case l.Codec == codec.Bitset:
		return "bitset, one load"
	case p.runs != nil:
		return fmt.Sprintf("%d runs", len(p.runs)/2)
	case p.bits != nil:
		return "auxiliary bitset, one load"
	}
	return sieve + p.find.describe(l.Len, where)
}

// ExplainBatch implements plan.Store.
func (s *store) ExplainBatch(b *plan.Batch) string {
	if err := runs(b.Algorithm); err != nil {
		return err.Error()
	}
	if b.Algorithm == plan.Auto {
		return "auto: chosen for each list"
	}
	return b.Algorithm.String()
}
