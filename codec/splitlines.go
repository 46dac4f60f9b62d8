package codec

import "slices"

// SplitLen is the number of docIDs in a segment of SplitLines; the last segment may hold fewer.
const SplitLen = 256

// SplitLines is a list that is split into segments with a line and a safe range each: local
// safe ranges (Ao et al. 2011, section 4.3). Left and Right of a segment are below 2^21.
type SplitLines struct {
	First []uint32 // the first docID of each segment
	Lines []Line   // of the docIDs of a segment, less its first docID
}

// FitLines splits docs, strictly increasing, and fits a line to each segment.
func FitLines(docs []uint32) (s SplitLines) {
	var buf [SplitLen]uint32
	for segment := range slices.Chunk(docs, SplitLen) {
		for i, d := range segment {
			buf[i] = d - segment[0]
		}
		s.First = append(s.First, segment[0])
		s.Lines = append(s.Lines, FitLine(buf[:len(segment)]))
	}
	return s
}

// Range returns the only indexes, lo to hi-1 within 0 to n, where x can be in the list of n
// docIDs that was split. The range may be empty.
func (s *SplitLines) Range(x, n uint32) (lo, hi uint32) {
	k, found := slices.BinarySearch(s.First, x)
	if !found {
		if k == 0 {
			return 0, 0
		}
		k--
	}
	first := uint32(k) * SplitLen
	lo, hi = s.Lines[k].Range(x-s.First[k], min(n-first, SplitLen))
	return first + lo, first + hi
}
