package codec

import "slices"

// FindIn is Find for an x whose index in the list, if it is there, is lo to hi-1
// (0 <= lo, hi <= Len), as the table of an algorithm says: of the skip entries of
// a gap codec it searches only those of that range. It is Count where lo >= hi.
func (b *Blocks) FindIn(x uint32, lo, hi int) int {
	last := b.gap.last
	switch {
	case lo >= hi:
		return b.count
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
