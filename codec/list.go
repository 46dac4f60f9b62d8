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
	var b Blocks
	if err := b.Open(l); err != nil {
		return dst, err
	}
	room := int(l.Len)
	if b.layout == LineLayout { // Decode finds room for a bucket that is a longer run
		room = min(room, blockBits*len(l.Words))
	}
	out := slices.Grow(dst, room)
	if l.Codec == ParaPFor { // the codec of most lists
		n := len(dst) + int(l.Len)
		if err := b.segments().decodeAll(out[len(dst):n]); err != nil {
			return dst, err
		}
		return out[:n], nil
	}
	for k := range b.Count() {
		var err error
		if out, err = b.Decode(out, k); err != nil {
			return dst, err
		}
	}
	return out, nil
}

// Validate checks everything that AppendTo checks, without a place for the
// whole list.
func (l List) Validate() error {
	var b Blocks
	if err := b.Open(l); err != nil {
		return err
	}
	var buf [blockBits]uint32
	block := buf[:0]
	for k := range b.Count() {
		var err error
		if block, err = b.Decode(block[:0], k); err != nil {
			return err
		}
	}
	return nil
}
