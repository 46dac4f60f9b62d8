package lookup

import "heddle/hostfallback/internal/match/docset"

// filterInterpolation is IS: interpolation search, which estimates the position of a
// candidate from the docIDs at both ends of the remaining range (Ao et al. 2011, section
// 4.2). A bisection follows an estimate that does not halve the range, so a search takes at
// most twice the steps of binary search.
func filterInterpolation(dst, cand, docs []uint32) int {
	n := 0
	for _, x := range cand {
		lo, hi := 0, len(docs)-1 // docs[lo:hi+1] contains x if docs does
		for hi-lo > 8 && docs[lo] <= x && x <= docs[hi] {
			lo, hi = guess(docs, lo, hi, x)
		}
		dst[n] = x
		n += contains(docs[lo:hi+1], x)
	}
	return n
}

// guess returns at most half of the range lo to hi, for an x between the docIDs at its ends.
func guess(docs []uint32, lo, hi int, x uint32) (int, int) {
	width := hi - lo
	at := lo + int(uint64(x-docs[lo])*uint64(width)/uint64(max(docs[hi]-docs[lo], 1)))
	lo, hi = split(docs, min(at, hi), lo, hi, x)
	if 2*(hi-lo) > width {
		lo, hi = split(docs, int(uint(lo+hi)/2), lo, hi, x)
	}
	return lo, hi
}

// split returns the part of the range lo to hi that can contain x, given docs[at].
func split(docs []uint32, at, lo, hi int, x uint32) (int, int) {
	switch {
	case docs[at] < x:
		return min(at+1, hi), hi
	case docs[at] > x:
		return lo, max(at-1, lo)
	}
	return at, at
}

// pmfFan is the number of sections into which one level of splitters divides a section.
const pmfFan = 4

// filterPMF is parallel merge find (Ding et al. 2009, section 7.2): splitters among the
// candidates are found in docs first, and the candidates between two splitters are searched
// only in the section of docs between them. The sections are divided again at each further
// level. With 0 levels it is binary search over all of docs.
func filterPMF(dst, cand, docs []uint32, levels int) int {
	if levels == 0 || len(cand) < 2*pmfFan {
		return filterBinary(dst, cand, docs)
	}
	n := 0
	for k := pmfFan; k > 0; k-- {
		section := cand[:len(cand)/k]
		end := docset.LowerBound(docs, section[len(section)-1])
		n += filterPMF(dst[n:], section, docs[:min(end+1, len(docs))], levels-1)
		cand, docs = cand[len(section):], docs[end:]
	}
	return n
}
