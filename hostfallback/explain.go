package hostfallback

import (
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// Explain implements plan.Store. It builds the table that the method needs, so
// that what it says is what a query would do.
func (s *store) Explain(a plan.Algorithm, h plan.Handle) string {
	if uint64(h) >= uint64(len(s.src.Lists)) {
		return fmt.Sprintf("no list %d", h)
	}
	p := new(prober)
	if err := p.open(s, a, h); err != nil {
		return err.Error()
	}
	l := s.src.Lists[h]
	where := "docIDs"
	if p.packed {
		where = fmt.Sprintf("%d segments", len(p.segs.Last))
	}
	switch {
	case l.Codec == codec.Bitset:
		return "bitset, one load"
	case p.bits != nil:
		return "auxiliary bitset, one load"
	case p.line != nil:
		return fmt.Sprintf("lr: safe range of %d in %s", p.line.Left+p.line.Right+1, where)
	case p.bucket != nil:
		n := max(len(p.bucket.first)-1, 1)
		return fmt.Sprintf("hs%d: buckets of %.1f in %s", max(a.Bucket(), 16), float64(l.Len)/float64(n), where)
	}
	return fmt.Sprintf("bs: %d in %s", l.Len, where)
}
