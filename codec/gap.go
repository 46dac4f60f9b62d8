package codec

import "math/bits"

// Gap codecs store v_i = docID_i - docID_(i-1) - 1, with docID_(-1) = -1, in
// segments of SegmentLen values. Their words begin with the last docID of each
// segment, the skip entries, so that skipping needs no decoder. With base the last
// docID before segment s, or -1, docID j of the segment is
//
//	base + (j+1) + v_0 + ... + v_j
//
// A list of no docIDs has no words.

// gapTables has the common parts of gap codecs.
type gapTables struct {
	last    []uint32 // last docID of each segment
	dir     []uint32 // one or two words a segment, or none, by codec
	payload []uint32 // the encoded gaps: the words behind the two tables
}

// gapTables splits the words of a gap codec with a directory of width words a
// segment. It checks only that the tables fit.
func (l List) gapTables(width int) (t gapTables, err error) {
	nseg := segments(l.Len)
	tables := (1 + width) * nseg
	switch {
	case len(l.Words) < tables:
		return t, corrupt(l.Codec, len(l.Words), "ends inside tables of %d words", tables)
	case l.Len == 0 && len(l.Words) > 0:
		return t, corrupt(l.Codec, 0, "%d words behind the end of an empty list", len(l.Words))
	}
	return gapTables{l.Words[:nseg:nseg], l.Words[nseg:tables:tables], l.Words[tables:]}, nil
}

// room returns the payload of segment seg. The first word of each directory entry is
// the offset of a payload. Payloads are contiguous and in order.
func (t *gapTables) room(id ID, seg int) (payload []uint32, err error) {
	width := len(t.dir) / len(t.last)
	off, end := uint(t.dir[width*seg]), uint(len(t.payload))
	if seg+1 < len(t.last) {
		end = uint(t.dir[width*(seg+1)])
	}
	if seg == 0 && off != 0 || off > end || end > uint(len(t.payload)) {
		return nil, corrupt(id, len(t.last)+width*seg, "segment %d: words %d to %d of a payload of %d", seg, off, end, len(t.payload))
	}
	return t.payload[off:end], nil
}

// at returns the word of the list where the payload of segment seg begins, for errors.
func (t *gapTables) at(seg int) int {
	width := len(t.dir) / len(t.last)
	return len(t.last) + len(t.dir) + int(t.dir[width*seg])
}

// base returns the docID before segment seg, modulo 2^64: -1 for the first segment.
func (t *gapTables) base(seg int) uint64 {
	if seg == 0 {
		return ^uint64(0)
	}
	return uint64(t.last[seg-1])
}

// sum turns the gaps of segment seg in dst into docIDs.
func (t *gapTables) sum(id ID, dst []uint32, seg int) error {
	return t.checkEnd(id, seg, unpackGaps(dst, dst, 32, t.base(seg)))
}

// checkEnd compares the last docID of segment seg with its skip entry. docID has 64
// bits, so a docID above 2^32 differs from the entry. If they agree, no sum wrapped,
// and the docIDs ascend.
func (t *gapTables) checkEnd(id ID, seg int, docID uint64) error {
	if docID != uint64(t.last[seg]) {
		return corrupt(id, seg, "segment %d ends at docID %d, its gaps at %d", seg, t.last[seg], docID)
	}
	return nil
}

// gaps writes the gaps of segment seg to buf and returns them.
func gaps(buf *[SegmentLen]uint32, docs []uint32, seg int) []uint32 {
	at := seg * SegmentLen
	before := ^uint32(0)
	if at > 0 {
		before = docs[at-1]
	}
	docs = docs[at:min(at+SegmentLen, len(docs))]
	v := buf[:len(docs)]
	for i, d := range docs {
		v[i] = d - before - 1
		before = d
	}
	return v
}

// appendLast appends the last docID of each segment.
func appendLast(dst, docs []uint32) []uint32 {
	for seg := range segments(uint32(len(docs))) {
		dst = append(dst, docs[min((seg+1)*SegmentLen, len(docs))-1])
	}
	return dst
}

// packWords returns the number of words that count values of b bits take.
func packWords(count int, b uint) int { return int((uint64(count)*uint64(b) + 31) / 32) }

// appendLow appends the low b bits, 0 to 32, of values.
func appendLow(dst, values []uint32, b uint) []uint32 {
	at := len(dst)
	dst = appendZeros(dst, packWords(len(values), b))
	n := len(values) / 32 * 32
	packBlocks(dst[at:], values[:n], b)
	if n < len(values) {
		var in, out [32]uint32 // a whole block, filled with zeros
		copy(in[:], values[n:])
		packBlocks(out[:], in[:], b)
		copy(dst[at+n/32*int(b):], out[:])
	}
	return dst
}

// wider returns how many values have more than b bits, for each b.
func wider(values []uint32) (n [33]int) {
	for _, v := range values {
		n[bits.Len32(v)]++
	}
	countWider(&n)
	return n
}

// countWider replaces the numbers of values of each width by the numbers of values of more bits.
func countWider(n *[33]int) {
	above := 0
	for b := 32; b >= 0; b-- {
		n[b], above = above, above+n[b]
	}
}

// gapWidths returns how many gaps of docs have more than b bits, for each b.
func gapWidths(docs []uint32) (n [33]int) {
	before := ^uint32(0)
	for _, d := range docs {
		n[bits.Len32(d-before-1)]++
		before = d
	}
	countWider(&n)
	return n
}

// widest returns the least width that fits all values.
func widest(wider *[33]int) uint {
	b := uint(32)
	for b > 0 && wider[b-1] == 0 {
		b--
	}
	return b
}
