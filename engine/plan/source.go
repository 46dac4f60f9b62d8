package plan

import (
	"errors"
	"fmt"
	"slices"

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

	FreqWords uint32 // length of the frequencies, in words
	FreqOff   uint64 // their offset in Source.Freqs
}

// Source is a set of encoded lists over docIDs below Docs. It is read-only and safe
// for concurrent use. Its owner keeps Words valid until every Store loaded from it
// is closed; Words may be a view of a mapped file.
type Source struct {
	Docs  uint32 // universe: every docID is below it
	Lists []List // by handle; Describe sets the entries of a lazy source
	Words []uint32

	Lazy Lazy // reads Lists and verifies Words at their first use; nil: Lists are complete and Words are intact

	// Data for ranking; Freqs is nil in a source without it.
	Freqs   []uint32 // packed frequencies less one (codec.Packed), list after list
	Lengths []uint32 // length of each document, in tokens; not needed with impacts
	Length  uint64   // sum of the exact lengths if Lengths are rounded, in tokens; 0: Lengths are exact
	// WithTerms is the number of documents with at least one term; 0: with a length above 0.
	WithTerms uint32
	// Positions are for phrases; nil: there are none.
	Positions *Positions
	Impacts   uint8 // 8 or 16: Freqs holds impacts of so many bits; 0: frequencies
	// Fields are ranges of lists with lengths and statistics of their own, by First; nil: all lists are one field. Backends
	// rank by Lengths alone, the lengths in all fields.
	Fields []Field
}

// Field is the lists from First up to First of the next field.
type Field struct {
	Name    string
	First   Handle
	Docs    uint64   // documents with at least one term in the field
	Length  uint64   // sum of the exact lengths
	Lengths []uint32 // length of each document in the field, in tokens
}

// Documents returns the documents with a word in the field, ascending.
func (f *Field) Documents() []uint32 {
	docs := make([]uint32, 0, f.Docs)
	for d, n := range f.Lengths {
		if n > 0 {
			docs = append(docs, uint32(d))
		}
	}
	return docs
}

// FieldOf returns the number of the field of a list; 0 without fields.
func (s *Source) FieldOf(h Handle) int {
	i := max(len(s.Fields), 1) - 1
	for i > 0 && s.Fields[i].First > h {
		i--
	}
	return i
}

// Lazy reads the parts of a Source at their first use. Damage is a *mapped.Fault: an error, or
// a panic that readers of a Source catch.
type Lazy interface {
	// Describe sets Lists[h].
	Describe(h Handle)
	// DescribeAll sets all of Lists, on all cores.
	DescribeAll() error
	// Check sets Lists[h] and verifies the words of the list, or its frequencies. Loading all
	// words to a device needs a check of all lists before.
	Check(h Handle, freqs bool)
	// Postings is the sum of the lengths of all lists.
	Postings() uint64
	// Used is the number of words that the lists so far have in Words and in Freqs.
	Used() (words, freqs uint64)
}

// Describe sets Lists[h] of a lazy source. Add and Validate of batches call it, and so does the
// search for a term in an index file; readers of Lists that have a handle from elsewhere call it
// first.
func (s *Source) Describe(h Handle) {
	if s.Lazy != nil {
		s.Lazy.Describe(h)
	}
}

// DescribeAll sets all of Lists of a lazy source. An error is a *mapped.Fault.
func (s *Source) DescribeAll() error {
	if s.Lazy != nil {
		return s.Lazy.DescribeAll()
	}
	return nil
}

// CountWithTerms is the number of documents with at least one term, N of BM25: WithTerms, or if that is
// 0 the number of Lengths above 0, or without Lengths Docs.
func (s *Source) CountWithTerms() (n uint64) {
	switch {
	case s.WithTerms > 0:
		return uint64(s.WithTerms)
	case s.Lengths == nil:
		return uint64(s.Docs)
	}
	for _, l := range s.Lengths {
		n += uint64(min(l, 1))
	}
	return n
}

// Postings is the sum of the lengths of all lists.
func (s *Source) Postings() (n uint64) {
	if s.Lazy != nil {
		return s.Lazy.Postings()
	}
	for i := range s.Lists {
		n += uint64(s.Lists[i].Len)
	}
	return n
}

// Used is the number of words that lists have in Words and in Freqs. A lazy source has room for
// more behind them.
func (s *Source) Used() (words, freqs uint64) {
	if s.Lazy != nil {
		return s.Lazy.Used()
	}
	return uint64(len(s.Words)), uint64(len(s.Freqs))
}

// List returns a view of list h.
func (s *Source) List(h Handle) codec.List {
	if s.Lazy != nil {
		s.Lazy.Check(h, false)
	}
	d := s.Lists[h]
	return codec.List{Codec: d.Codec, Len: d.Len, Words: s.Words[d.Off : d.Off+uint64(d.Words) : d.Off+uint64(d.Words)]}
}

// Freq returns a view of the frequencies of list h, each less one.
func (s *Source) Freq(h Handle) (codec.Packed, error) {
	if s.Lazy != nil {
		s.Lazy.Check(h, true)
	}
	d := s.Lists[h]
	return codec.NewPacked(d.Len, s.Freqs[d.FreqOff:d.FreqOff+uint64(d.FreqWords)])
}

// ErrNotRanked is the cause of errors of ranked queries on a source without frequencies.
var ErrNotRanked = errors.New("the lists have no frequencies")

// ranked reports why scores by n are not possible.
func (s *Source) ranked(n Norm) error {
	switch {
	case s.Freqs == nil && len(s.Lists) > 0:
		return fmt.Errorf("plan: %w", ErrNotRanked)
	case s.Impacts != n.Impacts:
		return fmt.Errorf("plan: impacts of %d bits were asked for, the lists have %d (0: frequencies)", n.Impacts, s.Impacts)
	case n.Shift > 63:
		return fmt.Errorf("plan: a norm shifted by %d bits, at most 63 are possible", n.Shift)
	case s.Impacts == 0 && uint64(len(s.Lengths)) != uint64(s.Docs):
		return fmt.Errorf("plan: %w of %d documents, there are %d lengths", ErrNotRanked, s.Docs, len(s.Lengths))
	}
	return nil
}

// Validate checks that every list lies inside Words and is aligned, and its
// frequencies inside Freqs; it does not decode them. It sets all of Lists of a lazy source.
func (s *Source) Validate() error {
	if err := s.DescribeAll(); err != nil {
		return err
	}
	for h, d := range s.Lists {
		switch {
		case d.Off%ListAlign != 0:
			return fmt.Errorf("plan: list %d starts at word %d, not a multiple of %d", h, d.Off, ListAlign)
		case d.Off > uint64(len(s.Words)) || uint64(d.Words) > uint64(len(s.Words))-d.Off:
			return fmt.Errorf("plan: list %d (words %d to %d) lies outside the %d words of its source", h, d.Off, d.Off+uint64(d.Words), len(s.Words))
		case d.FreqOff > uint64(len(s.Freqs)) || uint64(d.FreqWords) > uint64(len(s.Freqs))-d.FreqOff:
			return fmt.Errorf("plan: the frequencies of list %d (words %d to %d) lie outside the %d words of its source", h, d.FreqOff, d.FreqOff+uint64(d.FreqWords), len(s.Freqs))
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

// AppendFreqs encodes the frequencies (or impacts) of list h, at least 1 each, of
// which there must be as many as docIDs. Like Append it is for small indices.
func (s *Source) AppendFreqs(h Handle, freqs []uint32, opt codec.Options) error {
	d := &s.Lists[h]
	if uint64(len(freqs)) != uint64(d.Len) {
		return fmt.Errorf("plan: %d frequencies for the %d docIDs of list %d", len(freqs), d.Len, h)
	}
	if i := slices.Index(freqs, 0); i >= 0 {
		return fmt.Errorf("plan: frequency %d of list %d is 0", i, h)
	}
	words, err := codec.AppendFreqs(s.Freqs, freqs, opt)
	if err != nil {
		return err
	}
	if words == nil {
		words = []uint32{} // all lists are empty, and Freqs must not be nil
	}
	d.FreqOff, d.FreqWords = uint64(len(s.Freqs)), uint32(len(words)-len(s.Freqs))
	s.Freqs = words
	return nil
}
