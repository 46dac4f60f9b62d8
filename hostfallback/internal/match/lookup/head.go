package lookup

import (
	"math/bits"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
)

// summary has the marks and the heads of all lists.
type summary struct {
	marks  []mark
	heads  []Head
	runs   docset.Runs // the runs of all lists, one list after another
	starts []uint16    // the indexes of runs of all lists, one after another: see indexSize
}

// mark tells where the docIDs and the runs of a list lie. For most pairs of short lists it suffices to find
// the common docIDs. The marks of all lists lie one after another: a batch of pairs reads little else.
type mark struct {
	docset.Interval
	length uint32 // number of docIDs
	at, n  uint32 // the runs of the list are summary.runs[at:at+n]; n is 0 without Runs
	start  uint32 // the index of the runs begins at summary.starts[start]; 0: no index
}

// Head is read of a list if its mark does not suffice.
type Head struct {
	few    bool   // see Prepared.fewRuns
	ranges ranges // the ranges of documents in which the list has docIDs
}

// ranges has a bit for each of 256 ranges of documents.
type ranges [4]uint64

// headBytes is the size of a Head and a mark.
const headBytes = 64

// newHead returns the head of a list with docs below universe.
func newHead(docs []uint32, universe uint32) (h Head) {
	shift := max(bits.Len32(universe), 8) - 8
	for _, x := range docs {
		at := x >> shift
		h.ranges[at/64%4] |= 1 << (at % 64)
	}
	return h
}

// overlap reports whether both lists have docIDs in the same range.
func (r *ranges) overlap(s *ranges) bool {
	return r[0]&s[0]|r[1]&s[1]|r[2]&s[2]|r[3]&s[3] != 0
}

// keepHeads copies the marks, the heads and the runs of all lists, which must be prepared, and makes indexes of runs, as
// far as memory is left.
func (t *Auxiliary) keepHeads() {
	total := 0
	for h := range t.Source.Lists {
		total += len(t.Prepared(plan.Handle(h)).Runs) + 1
	}
	if !t.Memory.Take(headBytes*int64(len(t.Source.Lists)) + 8*int64(total)) {
		return
	}
	runs, marks, heads := make(docset.Runs, 0, total), make([]mark, len(t.Source.Lists)), make([]Head, len(t.Source.Lists))
	starts := make([]uint16, 1)
	for h := range marks {
		p, length := t.Prepared(plan.Handle(h)), t.Source.Lists[h].Len
		m := mark{p.Interval, length, uint32(len(runs)), uint32(len(p.Runs)), 0}
		runs = append(runs, p.Runs...)
		if n := indexSize(p.Runs); n > 0 && t.Memory.Take(int64(2*n+8)) {
			m.start = uint32(len(starts))
			starts = appendIndex(starts, p.Runs)
			runs = append(runs, lastRun)
		}
		marks[h], heads[h] = m, Head{p.fewRuns(length), p.ranges}
	}
	t.heads.Store(&summary{marks, heads, runs, starts})
}

// Common returns an interval with all common docIDs of lists. Without heads it returns Everywhere.
func (t *Auxiliary) Common(lists []plan.Handle) docset.Interval {
	s := t.heads.Load()
	if s == nil {
		return docset.Everywhere
	}
	both := s.marks[lists[0]].Interval
	for _, h := range lists[1:] {
		both = both.Intersect(s.marks[h].Interval)
	}
	if both.First > both.Last {
		return both
	}
	shared := s.heads[lists[0]].ranges
	for _, h := range lists[1:] {
		for i, x := range s.heads[h].ranges {
			shared[i] &= x
		}
	}
	if shared == (ranges{}) {
		return docset.Interval{First: 1, Last: 0}
	}
	return both
}

// RunsOf returns the runs of list h, none if it has none or is not prepared. few tells that nothing else
// reads the list in less time.
func (t *Auxiliary) RunsOf(h plan.Handle) (runs docset.Runs, few bool) {
	s := t.heads.Load()
	if s == nil {
		if p := t.Prepared(h); p != nil {
			return p.Runs, p.fewRuns(t.Source.Lists[h].Len)
		}
		return nil, false
	}
	m := &s.marks[h]
	return s.runs[m.at:][:m.n], s.heads[h].few
}
