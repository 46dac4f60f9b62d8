package lookup

import (
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// Explain describes the search of list h under algorithm a, for a query whose shortest list
// has a sixteenth of its docIDs. It builds the tables of the search.
func (aux *Auxiliary) Explain(a plan.Algorithm, h plan.Handle) string {
	var t *Prepared
	if a == plan.Auto {
		var err error
		if t, err = aux.Prepare(h); err != nil {
			return err.Error()
		}
	}
	p := new(Prober)
	if err := p.Open(aux, a, h, t, int(aux.Source.Lists[h].Len)/16+1); err != nil {
		return err.Error()
	}
	l := aux.Source.Lists[h]
	switch {
	case l.Codec == codec.Bitset:
		return "bitset, one load"
	case p.Bits != nil:
		return "auxiliary bitset, one load"
	case p.auto != nil && p.words:
		return fmt.Sprintf("%d words of a bitset", len(t.Words.Index))
	case p.auto != nil && t.bucket.First == nil:
		return fmt.Sprintf("bs: %d in docIDs", l.Len)
	case p.auto != nil:
		return fmt.Sprintf("sieve of %.1f bits a docID, then hs: buckets of %.1f in docIDs",
			32*float64(len(t.sieve))/float64(l.Len), float64(l.Len)/float64(max(len(t.bucket.First)-1, 1)))
	case p.packed:
		return p.find.describeBlocks(l.Len, &p.blocks)
	}
	return p.find.describe(l.Len, "docIDs")
}
