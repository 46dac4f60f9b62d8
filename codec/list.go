package codec

import "slices"

// List is one encoded posting list: a view, it owns nothing. It is safe for
// concurrent use while nobody writes to Words.
type List struct {
	Codec ID
	Len   uint32   // number of docIDs
	Words []uint32 // the encoded form, exactly its length
}

// AppendTo decodes the list, appends its Len docIDs to dst and returns the
// extended slice. It is total: words that Append did not write give either an
// error for which errors.Is(err, ErrCorrupt) holds, and dst as it was, or a
// strictly increasing list of Len docIDs. It allocates only to grow dst, and
// grows it only when the number of words makes Len possible.
func (l List) AppendTo(dst []uint32) ([]uint32, error) {
	switch l.Codec {
	case Raw:
		if err := l.checkRaw(); err != nil {
			return dst, err
		}
		return append(dst, l.Words...), nil
	case ParaPFor:
		s, err := l.Segments()
		if err != nil {
			return dst, err
		}
		n := len(dst)
		out := slices.Grow(dst, int(l.Len))[:n+int(l.Len)]
		if err := s.decodeAll(out[n:]); err != nil {
			return dst, err
		}
		return out, nil
	case Bitset:
		b, err := l.Bits()
		if err != nil {
			return dst, err
		}
		n := len(dst)
		out := slices.Grow(dst, int(l.Len))[:n+int(l.Len)]
		if err := b.decodeAll(out[n:]); err != nil {
			return dst, err
		}
		return out, nil
	}
	return dst, corrupt(l.Codec, 0, "unknown codec")
}

// Validate checks everything that AppendTo checks, without a place for the
// whole list.
func (l List) Validate() error {
	switch l.Codec {
	case Raw:
		return l.checkRaw()
	case ParaPFor:
		s, err := l.Segments()
		if err != nil {
			return err
		}
		return s.validate()
	case Bitset:
		b, err := l.Bits()
		if err != nil {
			return err
		}
		return b.validate()
	}
	return corrupt(l.Codec, 0, "unknown codec")
}

// checkRaw checks length and order of a Raw list.
func (l List) checkRaw() error {
	if uint64(len(l.Words)) != uint64(l.Len) {
		return corrupt(Raw, len(l.Words), "%d words for %d docIDs", len(l.Words), l.Len)
	}
	if i := disorder(l.Words); i > 0 {
		return corrupt(Raw, i, "docID %d behind %d", l.Words[i], l.Words[i-1])
	}
	return nil
}
