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
	var t *autoTable
	if a == plan.Auto {
		var err error
		if t, err = s.tables.auto(h); err != nil {
			return err.Error()
		}
	}
	p := new(prober)
	if err := p.open(s, a, h, t, int(s.src.Lists[h].Len)/16+1); err != nil {
		return err.Error()
	}
	l := s.src.Lists[h]
	switch {
	case l.Codec == codec.Bitset:
		return "bitset, one load"
	case p.bits != nil:
		return "auxiliary bitset, one load"
	case p.auto != nil && p.words:
		return fmt.Sprintf("%d words of a bitset", len(t.words.index))
	case p.auto != nil && t.bucket.first == nil:
		return fmt.Sprintf("bs: %d in docIDs", l.Len)
	case p.auto != nil:
		return fmt.Sprintf("sieve of %.1f bits a docID, then hs: buckets of %.1f in docIDs",
			32*float64(len(t.sieve))/float64(l.Len), float64(l.Len)/float64(max(len(t.bucket.first)-1, 1)))
	case p.packed:
		return p.find.describe(l.Len, fmt.Sprintf("%d blocks", p.blocks.view.Count()))
	}
	return p.find.describe(l.Len, "docIDs")
}

// ExplainBatch implements plan.Store.
func (s *store) ExplainBatch(b *plan.MatchBatch) string {
	if err := runs(b.Algorithm); err != nil {
		return err.Error()
	}
	if b.Algorithm == plan.Auto {
		return "auto: chosen for each list"
	}
	return b.Algorithm.String()
}
