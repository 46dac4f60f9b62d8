package codec

import "slices"

// Blocks gives random access to a list of any codec. It divides the list into
// consecutive blocks that decode alone, and finds the only block that can hold a
// docID.
//
//	raw            blocks of SegmentLen docIDs
//	bitset         blocks of 512 bits, some of them empty
//	gap codecs     segments of SegmentLen docIDs
//	line codecs    segments of LineSegment docIDs, or hash buckets, which may be
//	               empty and may have up to 2^31 docIDs
//
// Open once, then use Count, Start, Find and Decode in any order. Only Decode
// allocates, to grow dst. On words that no encoder wrote, Start and Find return any
// number in their range, and Decode returns an error or docIDs that keep its rules.
//
// A Blocks shares the memory of the words. It is safe for concurrent use while the
// words do not change and Open is not called.
type Blocks struct {
	list   List
	layout Layout
	count  int
	gap    gapTables // GapLayout
	rice   riceList  // Rice
	bits   Bits      // BitLayout
	lines  Lines     // LineLayout
}

// Open makes b a view of l and forgets the list that b viewed before. It checks
// the lengths of tables, not their content. For an error, errors.Is(err,
// ErrCorrupt) holds.
func (b *Blocks) Open(l List) (err error) {
	*b = Blocks{list: l, layout: l.Codec.Layout()}
	directory := 0 // words a segment of a gap codec
	switch l.Codec {
	case Raw:
		if uint64(len(l.Words)) != uint64(l.Len) {
			return corrupt(Raw, len(l.Words), "%d words for %d docIDs", len(l.Words), l.Len)
		}
		b.count = segments(l.Len)
		return nil
	case Bitset:
		b.bits, err = l.Bits()
		b.count = len(b.bits.Ranks)
		return err
	case LRC, LRCPFor, LRCSeg, SegLRC, HSLRC128, HSLRC256:
		b.lines, err = l.Lines()
		b.count = b.lines.Blocks()
		return err
	case VByte, Rice:
		directory = 1
	case ParaPFor, PFD, NewPFD:
		directory = 2
	case RPFD:
	default:
		return corrupt(l.Codec, 0, "unknown codec")
	}
	if b.gap, err = l.gapTables(directory); err != nil {
		return err
	}
	b.count = len(b.gap.last)
	switch l.Codec {
	case Rice:
		b.rice, err = l.rice(&b.gap)
	case RPFD:
		if l.Len > 0 {
			err = checkRPFD(b.gap.payload, int(l.Len), b.count, -1)
		}
	}
	return err
}

// Count returns the number of blocks, 0 for an empty list.
func (b *Blocks) Count() int { return b.count }

// Start returns the index in the list of the first docID of block k, 0 to Count. For
// an empty block it is the index of the next docID, and for block Count the length
// of the list.
func (b *Blocks) Start(k int) int {
	if k == b.count {
		return int(b.list.Len)
	}
	switch b.layout {
	case BitLayout:
		return int(min(b.bits.Ranks[k], b.list.Len))
	case LineLayout:
		return b.lines.Start(k)
	}
	return k * SegmentLen
}

// Find returns the only block that can hold x, or Count if all docIDs are below x.
// The docIDs of all blocks before it are below x.
func (b *Blocks) Find(x uint32) int {
	switch b.layout {
	case PlainLayout:
		lo, hi := 0, b.count // the first block whose last docID is not below x
		for lo < hi {
			if k := int(uint(lo+hi) / 2); b.list.Words[b.Start(k+1)-1] < x {
				lo = k + 1
			} else {
				hi = k
			}
		}
		return lo
	case BitLayout:
		return min(int(x/blockBits), b.count)
	case LineLayout:
		return b.lines.Block(x)
	}
	k, _ := slices.BinarySearch(b.gap.last, x)
	return k
}

// Decode appends the docIDs of block k, 0 to Count-1, to dst and returns the extended
// slice. The block has Start(k+1) - Start(k) docIDs, strictly increasing, and above
// all docIDs of the blocks before if these decode. For an error, errors.Is(err,
// ErrCorrupt) holds, and Decode returns dst unchanged.
func (b *Blocks) Decode(dst []uint32, k int) ([]uint32, error) {
	if b.layout == LineLayout {
		return b.lines.decode(dst, k)
	}
	n := b.Start(k+1) - b.Start(k)
	if n < 0 {
		return dst, corrupt(b.list.Codec, 0, "block %d ends before it starts", k)
	}
	out := slices.Grow(dst, n)[:len(dst)+n]
	if err := b.decode(out[len(dst):], k); err != nil {
		return dst, err
	}
	return out, nil
}

// decode writes the docIDs of block k to dst, whose length is their count.
func (b *Blocks) decode(dst []uint32, k int) error {
	switch b.list.Codec {
	case Raw:
		return decodeRaw(dst, b.list.Words, k)
	case Bitset:
		return b.bits.decode(dst, k)
	case ParaPFor:
		s := b.segments()
		p := s.packed()
		return s.decode(&p, k, dst)
	case VByte:
		return decodeVByte(dst, &b.gap, k)
	case Rice:
		return b.rice.decode(dst, &b.gap, k)
	case PFD:
		return decodePFD(dst, &b.gap, k)
	case NewPFD:
		return decodeNewPFD(dst, &b.gap, k)
	case RPFD:
		return decodeRPFD(dst, &b.gap, int(b.list.Len), k)
	}
	return corrupt(b.list.Codec, 0, "unknown codec")
}

// segments views a ParaPFor list.
func (b *Blocks) segments() Segments {
	return Segments{b.list.Len, b.gap.last, b.gap.dir, b.gap.payload}
}

// decodeRaw copies block k of docs to dst. It checks that the block ascends, from
// the docID before it.
func decodeRaw(dst, docs []uint32, k int) error {
	at := k * SegmentLen
	copy(dst, docs[at:])
	before := max(at-1, 0)
	if i := disorder(docs[before : at+len(dst)]); i > 0 {
		i += before
		return corrupt(Raw, i, "docID %d behind %d", docs[i], docs[i-1])
	}
	return nil
}
