package reference

import (
	"fmt"

	"heddle/engine/plan"
)

// Lists holds the posting lists of a source as plain slices, by handle.
type Lists struct {
	Docs [][]uint32 // docIDs, ascending
	// Freqs holds the frequencies or impacts of the docIDs. It is nil without data
	// for ranking.
	Freqs [][]uint32
	// Lengths holds the length of each document in tokens. It is nil with impacts.
	Lengths []uint32
}

// Decode decodes all lists of src, and their frequencies if it has any.
func Decode(src *plan.Source) (*Lists, error) {
	l := &Lists{Lengths: src.Lengths}
	for h := range src.Lists {
		docs, err := src.List(plan.Handle(h)).AppendTo(nil)
		if err != nil {
			return nil, fmt.Errorf("list %d: %w", h, err)
		}
		l.Docs = append(l.Docs, docs)
		if src.Freqs == nil {
			continue
		}
		packed, err := src.Freq(plan.Handle(h))
		if err != nil {
			return nil, fmt.Errorf("frequencies of list %d: %w", h, err)
		}
		freqs, err := packed.AppendTo(nil)
		if err != nil {
			return nil, fmt.Errorf("frequencies of list %d: %w", h, err)
		}
		for i := range freqs {
			freqs[i]++ // stored less one
		}
		l.Freqs = append(l.Freqs, freqs)
	}
	return l, nil
}
