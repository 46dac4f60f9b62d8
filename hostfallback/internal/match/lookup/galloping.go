package lookup

import "heddle/hostfallback/internal/match/docset"

// The sequential searches go through both lists in order. A search starts at the position of
// the candidate before, so that neighbours cost little. It copies the candidates that docs
// contain to the front of dst, which is at least as long as cand and may be cand, and returns
// their number. next is the position at which the next call starts (its at).

// filterGallop searches in steps that double, then by binary search in the last step
// (Bentley and Yao 1976).
func filterGallop(dst, cand, docs []uint32, at int) (n, next int) {
	for _, x := range cand {
		at += docset.Gallop(docs[at:], x)
		if at == len(docs) {
			break
		}
		dst[n] = x
		n += docset.Equal(docs[at], x)
	}
	return n, at
}

// filterRest is small versus small: binary search in the rest of the list (Demaine et al.
// 2001).
func filterRest(dst, cand, docs []uint32, at int) (n, next int) {
	for _, x := range cand {
		at += docset.LowerBound(docs[at:], x)
		if at == len(docs) {
			break
		}
		dst[n] = x
		n += docset.Equal(docs[at], x)
	}
	return n, at
}

// segStep returns the segment length of the segment-step algorithm for a list of n docIDs: a
// candidate skips one segment on average.
func segStep(n, candidates int) int { return max(n/max(candidates, 1), 8) }

// filterSteps is the segment-step algorithm (Wu et al. 2010, section V.B.6): it skips
// segments of step docIDs whose last docID is below the candidate, and searches the next one.
func filterSteps(dst, cand, docs []uint32, step, at int) (n, next int) {
	for _, x := range cand {
		for at+step < len(docs) && docs[at+step-1] < x {
			at += step
		}
		segment := docs[at:min(at+step, len(docs))]
		dst[n] = x
		n += contains(segment, x)
	}
	return n, at
}
