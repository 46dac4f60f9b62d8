package lookup

import (
	"heddle/codec"
	"heddle/engine/plan"
)

// localBucket is the mean number of docIDs in each safe range.
const localBucket = 256

// narrower has safe ranges that vary over a list.
type narrower interface {
	// find returns the range of indexes, within 0 to n, that contains x if the list of n
	// docIDs does.
	find(x, n uint32) (lo, hi uint32)
	mean() float64 // width
}

// lines has a line for each segment of a list.
type lines struct{ codec.SplitLines }

// split returns the lines of the segments of list h.
func (t *Auxiliary) split(h plan.Handle) (*lines, error) {
	segments := int64(t.Source.Lists[h].Len)/codec.SplitLen + 1
	return get(t, &t.splits, h, nil, 36*segments, func(docs []uint32) lines { return lines{codec.FitLines(docs)} })
}

func (s *lines) find(x, n uint32) (lo, hi uint32) { return s.Range(x, n) }

func (s *lines) mean() float64 {
	sum := int64(0)
	for _, l := range s.Lines {
		sum += l.Left + l.Right + 1
	}
	return float64(sum) / float64(max(len(s.Lines), 1))
}

// local is a regression line with a safe range for each interval of docIDs.
type local struct {
	line  codec.Line
	shift uint8
	// safe[h] bounds, for the docIDs x with x>>shift = h, the distance of the position of x
	// on the line above and below its index. Both may be negative. Without such docIDs,
	// below is less than -above.
	safe []struct{ above, below int64 }
}

// local returns the safe ranges of list h.
func (t *Auxiliary) local(h plan.Handle) (*local, error) {
	shift := codec.BucketShift(t.Source.Lists[h].Len, t.Source.Docs, localBucket)
	entries := int64(t.Source.Docs>>shift) + 1
	return get(t, &t.locals, h, nil, 16*entries, func(docs []uint32) local { return newLocal(docs, shift) })
}

// newLocal measures the safe ranges of docs, which are not empty.
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

// position returns the position of x on the line.
func (l *local) position(x uint32) int64 {
	return (int64(x)*l.line.Slope + l.line.Intercept) >> codec.LineShift
}

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

// filterLocal is LRSeg and LRSplit: binary search in the local safe range. Four searches run
// side by side, with the steps of the widest range.
func filterLocal(dst, cand, docs []uint32, l narrower) int {
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
