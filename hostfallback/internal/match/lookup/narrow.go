package lookup

import (
	"heddle/codec"
	"heddle/engine/plan"
)

// filterInterpolation is IS: interpolation search, which guesses the place of a
// candidate from the docIDs at both ends of the range that is left (Ao et al.
// 2011, section 4.2). A guess that does not halve the range is followed by a
// bisection, so that no list takes more than twice the steps of a binary search.
func filterInterpolation(dst, cand, docs []uint32) int {
	n := 0
	for _, x := range cand {
		lo, hi := 0, len(docs)-1 // x lies in docs[lo:hi+1] if anywhere
		for hi-lo > 8 && docs[lo] <= x && x <= docs[hi] {
			lo, hi = guess(docs, lo, hi, x)
		}
		dst[n] = x
		n += contains(docs[lo:hi+1], x)
	}
	return n
}

// guess leaves at most half of lo to hi for x, which lies between the docIDs there.
func guess(docs []uint32, lo, hi int, x uint32) (int, int) {
	width := hi - lo
	at := lo + int(uint64(x-docs[lo])*uint64(width)/uint64(max(docs[hi]-docs[lo], 1)))
	lo, hi = split(docs, min(at, hi), lo, hi, x)
	if 2*(hi-lo) > width {
		lo, hi = split(docs, int(uint(lo+hi)/2), lo, hi, x)
	}
	return lo, hi
}

// split leaves the part of lo to hi where x can be, given what docs[at] is.
func split(docs []uint32, at, lo, hi int, x uint32) (int, int) {
	switch {
	case docs[at] < x:
		return min(at+1, hi), hi
	case docs[at] > x:
		return lo, max(at-1, lo)
	}
	return at, at
}

// pmfFan is the number of sections that one level of splitters makes of one.
const pmfFan = 4

// filterPMF is parallel merge find (Ding et al. 2009, section 7.2): splitters
// among the candidates are found in docs first, and the candidates between two of
// them are looked for in the section of docs between the two only, after as many
// levels. With no level it is binary search over all of docs.
func filterPMF(dst, cand, docs []uint32, levels int) int {
	if levels == 0 || len(cand) < 2*pmfFan {
		return filterBinary(dst, cand, docs)
	}
	n := 0
	for k := pmfFan; k > 0; k-- {
		section := cand[:len(cand)/k]
		end := LowerBound(docs, section[len(section)-1])
		n += filterPMF(dst[n:], section, docs[:min(end+1, len(docs))], levels-1)
		cand, docs = cand[len(section):], docs[end:]
	}
	return n
}

// localBucket is the mean number of docIDs that share a safe range.
const localBucket = 256

// local is a regression line with a safe range for each of many stretches of
// docIDs: local safe ranges (Ao et al. 2011, section 4.3).
type local struct {
	line  codec.Line
	shift uint8
	// safe holds, for the docIDs x with x>>shift = h, how far the position of x on
	// the line lies above its index at most, and how far below; both may be
	// negative. Where the list has none, below is less than -above.
	safe []struct{ above, below int64 }
}

// local returns the safe ranges of list h.
func (t *Auxiliary) local(h plan.Handle) (*local, error) {
	shift := codec.BucketShift(t.Source.Lists[h].Len, t.Source.Docs, localBucket)
	entries := int64(t.Source.Docs>>shift) + 1
	return get(t, &t.locals, h, nil, 16*entries, func(docs []uint32) local { return newLocal(docs, shift) })
}

// newLocal measures the safe ranges of docs, of which there is one at least.
func newLocal(docs []uint32, shift uint8) local {
	l := local{line: codec.FitLine(docs), shift: shift}
	l.safe = make([]struct{ above, below int64 }, docs[len(docs)-1]>>shift+1)
	for h := range l.safe {
		l.safe[h].above, l.safe[h].below = -1<<62, -1<<62
	}
	for i, x := range docs {
		s := &l.safe[x>>shift]
		above := l.position(x) - int64(i)
		s.above, s.below = max(s.above, above), max(s.below, -above)
	}
	return l
}

// position is where x lies on the line.
func (l *local) position(x uint32) int64 {
	return (int64(x)*l.line.Slope + l.line.Intercept) >> codec.LineShift
}

// find is the range of indexes, within 0 to n, where x must be in a list of n
// docIDs, if anywhere.
func (l *local) find(x, n uint32) (lo, hi uint32) {
	h := int(x >> l.shift)
	if h >= len(l.safe) || l.safe[h].above < -l.safe[h].below {
		return 0, 0
	}
	p := l.position(x)
	from := min(max(p-l.safe[h].above, 0), int64(n))
	to := min(max(p+l.safe[h].below+1, from), int64(n))
	return uint32(from), uint32(to)
}

// mean is the mean width of a safe range.
func (l *local) mean() float64 {
	sum, n := 0.0, 0
	for _, s := range l.safe {
		if s.above >= -s.below {
			sum += float64(s.above + s.below + 1)
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// filterLocal is LRSeg: binary search in the local safe range. Four searches take
// as many steps as the widest of their ranges needs.
func filterLocal(dst, cand, docs []uint32, l *local) int {
	n, all := 0, uint32(len(docs))
	var window [4]int
	for ; len(cand) >= 4; cand = cand[4:] {
		c := (*[4]uint32)(cand)
		width := 0
		for i, x := range c {
			lo, hi := l.find(x, all)
			window[i] = int(lo)
			width = max(width, int(hi-lo))
		}
		for i := range window {
			window[i] = min(window[i], len(docs)-width)
		}
		n += search4(dst[n:], c, &window, width, docs)
	}
	for _, x := range cand {
		lo, hi := l.find(x, all)
		dst[n] = x
		n += contains(docs[lo:hi], x)
	}
	return n
}
