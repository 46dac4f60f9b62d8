package lookup

import "heddle/hostfallback/internal/match/docset"

// filterMerge merges cand with docs[at:], without branches that depend on data. It copies the
// candidates that docs contain to the front of dst, which is at least as long as cand and may
// be cand, and returns their number. next is the at of the next call.
//
// Each step of a merge waits for the step before, about nine cycles. Two halves side by side
// take six cycles for each step. If all candidates fit into a chunk, setting one bit for each
// docID and loading one bit for each candidate takes three.
func filterMerge(dst, cand, docs []uint32, at int) (n, next int) {
	if len(cand) == 0 {
		return 0, at
	}
	first, last := cand[0], cand[len(cand)-1]
	at += docset.Gallop(docs[at:], first)
	next = at + docset.Gallop(docs[at:], last)
	if next < len(docs) && docs[next] == last {
		next++
	}
	docs = docs[at:next]
	switch {
	case len(cand) < 32:
		n, _ = mergeOne(dst, cand, docs, 0)
	case last-first < docset.ChunkDocs:
		n = mergeBits(dst, cand, docs, first)
	default:
		n = mergeTwo(dst, cand, docs)
	}
	return n, next
}

// mergeOne is one merge, from docs[at] on.
func mergeOne(dst, cand, docs []uint32, at int) (n, next int) {
	for i := 0; i < len(cand) && at < len(docs); {
		x, y := cand[i], docs[at]
		dst[n] = x
		i += notAbove(x, y)
		at += notAbove(y, x)
		n += docset.Equal(x, y)
	}
	return n, at
}

// mergeTwo merges the two halves of cand with their parts of docs, side by side.
func mergeTwo(dst, cand, docs []uint32) int {
	half := len(cand) / 2
	cut := docset.LowerBound(docs, cand[half])
	i, j := 0, 0
	k, l := half, cut
	n, m := 0, half
	for {
		// The number of steps that need no check of the ends.
		steps := min(half-i, cut-j, len(cand)-k, len(docs)-l)
		if steps <= 0 {
			break
		}
		for range steps {
			x, y := cand[i], docs[j]
			dst[n] = x
			i += notAbove(x, y)
			j += notAbove(y, x)
			n += docset.Equal(x, y)
			x, y = cand[k], docs[l]
			dst[m] = x
			k += notAbove(x, y)
			l += notAbove(y, x)
			m += docset.Equal(x, y)
		}
	}
	rest, _ := mergeOne(dst[n:], cand[i:half], docs[j:cut], 0)
	n += rest
	rest, _ = mergeOne(dst[m:], cand[k:], docs[l:], 0)
	return n + copy(dst[n:], dst[half:m+rest])
}

// mergeBits merges through bits, for candidates less than ChunkDocs from first.
func mergeBits(dst, cand, docs []uint32, first uint32) int {
	var acc docset.Chunk
	for _, x := range docs {
		x -= first
		acc[x/64%(docset.ChunkDocs/64)] |= 1 << (x % 64)
	}
	n := 0
	for _, x := range cand {
		dst[n] = x
		x -= first
		n += int(acc[x/64%(docset.ChunkDocs/64)] >> (x % 64) & 1)
	}
	return n
}

// notAbove is 1 if a <= b, else 0.
func notAbove(a, b uint32) int {
	if a <= b {
		return 1
	}
	return 0
}
