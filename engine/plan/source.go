package plan

import (
	"fmt"

	"heddle/codec"
)

// Handle is the number of a list in its Source.
type Handle = uint32

// ListAlign is the alignment of a list's first word in Source.Words, in words:
// kernels load four at a time.
const ListAlign = 4

// List describes one encoded list of a Source.
type List struct {
	Off   uint64   // offset in Source.Words, a multiple of ListAlign
	Words uint32   // length in words
	Len   uint32   // number of docIDs
	Codec codec.ID // how the words are to be read
}

// Source is a set of encoded lists over docIDs below Docs. It is read-only and
// safe for concurrent use; whoever made it keeps Words valid until every Store
// loaded from it is closed (Words may be a view into a mapped file).
type Source struct {
	Docs  uint32 // universe: every docID is below it
	Lists []List
	Words []uint32
}

// List returns a view of list h.
func (s *Source) List(h Handle) codec.List {
	d := s.Lists[h]
	return codec.List{Codec: d.Codec, Len: d.Len, Words: s.Words[d.Off : d.Off+uint64(d.Words) : d.Off+uint64(d.Words)]}
}

// Validate checks that every list lies inside Words and is aligned; it does not
// decode them.
func (s *Source) Validate() error {
	for h, d := range s.Lists {
		switch {
		case d.Off%ListAlign != 0:
			return fmt.Errorf("plan: list %d starts at word %d, not a multiple of %d", h, d.Off, ListAlign)
		case d.Off > uint64(len(s.Words)) || uint64(d.Words) > uint64(len(s.Words))-d.Off:
			return fmt.Errorf("plan: list %d (words %d to %d) lies outside the %d words of its source", h, d.Off, d.Off+uint64(d.Words), len(s.Words))
		case d.Len > s.Docs:
			return fmt.Errorf("plan: list %d has %d docIDs in a universe of %d", h, d.Len, s.Docs)
		}
	}
	return nil
}

// Append encodes docs as one more list of the source and returns its handle.
// It is for tests, benchmarks and small indices; large ones come from files.
func (s *Source) Append(id codec.ID, docs []uint32, opt codec.Options) (Handle, error) {
	for len(s.Words)%ListAlign != 0 {
		s.Words = append(s.Words, 0)
	}
	off := len(s.Words)
	words, err := codec.Append(s.Words, id, docs, opt)
	if err != nil {
		return 0, err
	}
	s.Words = words
	s.Lists = append(s.Lists, List{Off: uint64(off), Words: uint32(len(words) - off), Len: uint32(len(docs)), Codec: id})
	return Handle(len(s.Lists) - 1), nil
}
