package lookup

// The loops of this file go through both lists in order: they start where the
// candidate before was, or would be, so neighbours cost little. They return the
// number of candidates found, which they copy to the front of dst (it may be cand
// itself and is at least as long), and where the next candidate goes on: an index
// of docs, at most len(docs), that comes back as at.

// filterGallop looks for each candidate in steps that double, then by binary
// search in the last of them (Bentley and Yao 1976).
func filterGallop(dst, cand, docs []uint32, at int) (n, next int) {
	for _, x := range cand {
		at += Gallop(docs[at:], x)
		if at == len(docs) {
			break
		}
		dst[n] = x
		n += Equal(docs[at], x)
	}
	return n, at
}

// gallop is lowerBound for an x that is likely to lie near the front of docs.
func Gallop(docs []uint32, x uint32) int {
	step := 1
	for step <= len(docs) && docs[step-1] < x {
		step *= 2
	}
	from := step / 2
	return from + LowerBound(docs[from:min(step, len(docs))], x)
}

// filterRest is small versus small: binary search in what is left of the list
// (Demaine et al. 2001).
func filterRest(dst, cand, docs []uint32, at int) (n, next int) {
	for _, x := range cand {
		at += LowerBound(docs[at:], x)
		if at == len(docs) {
			break
		}
		dst[n] = x
		n += Equal(docs[at], x)
	}
	return n, at
}

// segStep is the length of the segments into which the segment-step algorithm
// divides a list of n docIDs: so many that a candidate passes over one of them in
// the mean.
func segStep(n, candidates int) int { return max(n/max(candidates, 1), 8) }

// filterSteps is the segment-step algorithm (Wu et al. 2010, section V.B.6): it
// goes on by whole segments of step docIDs while their last one is below the
// candidate, and searches the one where it stops.
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

// skipFan is the number of nodes of one level of a skip list that a node of the
// next stands for.
const skipFan = 16

// skips is a perfect skip list over docIDs (Pugh 1990; Moffat and Zobel 1996):
// node i of level k, counted from 1, is the last of docIDs i*16^k to
// (i+1)*16^k-1, or of as many as there are. The highest level has up to 16 nodes.
type skips [][]uint32

// newSkips builds the levels over docs, from level 1 on.
func newSkips(docs []uint32) skips {
	var s skips
	for level := docs; len(level) > skipFan; {
		nodes := make([]uint32, 0, (len(level)+skipFan-1)/skipFan)
		for i := skipFan - 1; i < len(level)+skipFan-1; i += skipFan {
			nodes = append(nodes, level[min(i, len(level)-1)])
		}
		s = append(s, nodes)
		level = nodes
	}
	return s
}

// filterSkips looks for each candidate from where the one before was: up while
// the node ahead is below it, then right and down.
func filterSkips(dst, cand, docs []uint32, s skips, at int) (n, next int) {
	for _, x := range cand {
		if at == len(docs) {
			break
		}
		k := 0
		for k < len(s) && s[k][at>>(4*(k+1))] < x {
			k++
		}
		for ; k >= 0; k-- {
			level := docs
			if k > 0 {
				level = s[k-1]
			}
			i := at >> (4 * k)
			for i < len(level) && level[i] < x {
				i++
			}
			if at = max(at, i<<(4*k)); i == len(level) {
				at = len(docs)
				break
			}
		}
		if at == len(docs) {
			break
		}
		dst[n] = x
		n += Equal(docs[at], x)
	}
	return n, at
}
