package hostfallback

import "heddle/codec"

// segments looks candidates up in a compressed list: in the skip entries first,
// and only then in the segment that they name, which it decodes. Candidates
// ascend, so the segment decoded last is often the one that is needed next.
type segments struct {
	view   codec.Segments
	cached int // segment in docs, -1 for none
	docs   []uint32
	buf    [codec.SegmentLen]uint32
}

// filter copies the candidates that the list has to the front of dst and returns
// how many there are. With a line or buckets it searches only the skip entries of
// the segments in their range.
func (s *segments) filter(dst, cand []uint32, line *codec.Line, b *buckets) (int, error) {
	n := 0
	for _, x := range cand {
		if s.cached >= 0 && x >= s.docs[0] && x <= s.docs[len(s.docs)-1] {
			dst[n] = x
			n += contains(s.docs, x)
			continue
		}
		lo, hi := uint32(0), s.view.Len
		if line != nil {
			lo, hi = line.Range(x, hi)
		} else if b != nil {
			lo, hi = b.find(x)
		}
		if lo >= hi {
			continue
		}
		first, end := int(lo/codec.SegmentLen), int((hi-1)/codec.SegmentLen)+1
		seg := first + lowerBound(s.view.Last[first:end], x)
		if seg == end {
			continue
		}
		if seg != s.cached {
			k, err := s.view.Decode(seg, &s.buf)
			if err != nil {
				s.cached = -1
				return 0, err
			}
			s.cached, s.docs = seg, s.buf[:k]
		}
		dst[n] = x
		n += contains(s.docs, x)
	}
	return n, nil
}
