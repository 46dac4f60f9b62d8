package codec

import "slices"

// FindIn is Find for a docID whose index in the list can only be lo to hi-1, where
// 0 <= lo and hi <= Len. It searches only the skip entries or keys of that range. It
// returns Count if lo >= hi.
func (b *Blocks) FindIn(x uint32, lo, hi int) int {
	last := b.gap.last
	switch {
	case lo >= hi:
		return b.count
	case b.layout == LineLayout:
		return b.lines.blockIn(x, lo, hi)
	case len(last) == 0:
		return b.Find(x)
	}
	first, end := lo/SegmentLen, (hi-1)/SegmentLen+1
	k, _ := slices.BinarySearch(last[first:end], x)
	if first += k; first == end {
		return b.count
	}
	return first
}

// Lines returns the view of a list of a line codec, and nil for other codecs.
func (b *Blocks) Lines() *Lines {
	if b.layout != LineLayout {
		return nil
	}
	return &b.lines
}
