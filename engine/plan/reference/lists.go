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
	all := make([]plan.Handle, len(src.Lists))
	for h := range all {
		all[h] = plan.Handle(h)
	}
	return DecodeSome(src, all)
}

// DecodeSome is Decode for some lists of src. The other lists are nil.
func DecodeSome(src *plan.Source, some []plan.Handle) (*Lists, error) {
	l := &Lists{Docs: make([][]uint32, len(src.Lists)), Lengths: src.Lengths}
	if src.Freqs != nil {
		l.Freqs = make([][]uint32, len(src.Lists))
	}
	for _, h := range some {
		var err error
		if l.Docs[h], err = src.List(h).AppendTo(nil); err != nil {
			return nil, fmt.Errorf("list %d: %w", h, err)
		}
		if src.Freqs == nil {
			continue
		}
		packed, err := src.Freq(h)
		if err == nil {
			l.Freqs[h], err = packed.AppendTo(nil)
		}
		if err != nil {
			return nil, fmt.Errorf("frequencies of list %d: %w", h, err)
		}
		for i := range l.Freqs[h] {
			l.Freqs[h][i]++ // stored less one
		}
	}
	return l, nil
}
