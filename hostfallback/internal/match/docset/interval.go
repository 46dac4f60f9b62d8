package docset

import "math"

// Interval is the docIDs from First to Last, none if First is above Last.
type Interval struct{ First, Last uint32 }

// Everywhere contains all docIDs.
var Everywhere = Interval{0, math.MaxUint32}

// IntervalOf returns the interval from the first of ascending docs to the last.
func IntervalOf(docs []uint32) Interval {
	if len(docs) == 0 {
		return Interval{1, 0}
	}
	return Interval{docs[0], docs[len(docs)-1]}
}

// Intersect returns the docIDs of both intervals.
func (s Interval) Intersect(t Interval) Interval {
	return Interval{max(s.First, t.First), min(s.Last, t.Last)}
}

// Cut returns the part of ascending docs that lies in s.
func (s Interval) Cut(docs []uint32) []uint32 {
	if len(docs) == 0 {
		return docs
	}
	if docs[0] < s.First {
		docs = docs[LowerBound(docs, s.First):]
	}
	if len(docs) > 0 && docs[len(docs)-1] > s.Last {
		docs = docs[:LowerBound(docs, s.Last+1)]
	}
	return docs
}

// CutWords returns the words of w that overlap s.
func (s Interval) CutWords(w Words) Words {
	from, to := LowerBound(w.Index, s.First/64), len(w.Index)
	if to > 0 && w.Index[to-1] > s.Last/64 {
		to = LowerBound(w.Index, s.Last/64+1)
	}
	return Words{w.Index[from:to], w.Bits[from:to]}
}
