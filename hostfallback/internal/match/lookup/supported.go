package lookup

import (
	"fmt"
	"slices"
	"sync"

	"heddle/codec"
	"heddle/engine/plan"
)

// Supports returns plan.ErrUnsupported if a list of src has a codec that the host cannot
// search.
func Supports(src *plan.Source) error {
	known := searchable()
	for h, l := range src.Lists {
		if !known[l.Codec] {
			return fmt.Errorf("host: list %d: no search for codec %v: %w", h, l.Codec, plan.ErrUnsupported)
		}
	}
	return nil
}

// searchable tells for each codec whether codec.Blocks finds a docID in a list of it.
var searchable = sync.OnceValue(func() (known [256]bool) {
	for _, id := range codec.IDs() {
		known[id] = finds(id)
	}
	return known
})

// finds reports whether codec.Blocks finds the docID of a short list in codec id.
func finds(id codec.ID) bool {
	docs := []uint32{5}
	words, err := codec.Append(nil, id, docs, codec.DefaultOptions())
	if err != nil {
		return false
	}
	var view codec.Blocks
	if view.Open(codec.List{Codec: id, Len: 1, Words: words}) != nil || view.Find(5) >= view.Count() {
		return false
	}
	got, err := view.Decode(nil, view.Find(5))
	return err == nil && slices.Equal(got, docs)
}
