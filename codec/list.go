package codec

import "slices"

// List is a view of one encoded posting list. It is safe for concurrent use while
// Words does not change.
type List struct {
	Codec ID
	Len   uint32   // number of docIDs
	Words []uint32 // the encoded form, exactly its length
}

// AppendTo decodes the list, appends its Len docIDs to dst and returns the extended
// slice. It is total: any words give either a strictly increasing list of Len docIDs,
// or dst unchanged and an error for which errors.Is(err, ErrCorrupt) holds. It
// allocates only to grow dst, and only if the number of words allows Len docIDs.
func (l List) AppendTo(dst []uint32) ([]uint32, error) {
	var b Blocks
	if err := b.Open(l); err != nil {
		return dst, err
	}
	room := int(l.Len)
	if b.layout == LineLayout { // Decode grows out for a bucket that is a longer run
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

// Validate makes all checks of AppendTo, without memory for the whole list.
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
