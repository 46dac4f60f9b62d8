package lookup

import (
	"math/bits"

	"heddle/engine/plan"
)

// Head shows whether lists may have a common docID, and where their runs are. The heads of all lists
// lie one after another, and so do their runs: a batch of very short lists reads little else. Heads are
// kept if all lists are intact and memory is left.
type Head struct {
	Interval        // from the first docID to the last
	at, n    uint32 // of the runs of the list, among those of all lists; n is 0 without Runs
	few      bool   // see Prepared.fewRuns
	ranges   ranges // that have docIDs
}

// ranges has a bit for each of 256 ranges of documents.
type ranges [4]uint64

// headBytes is the size of a Head.
const headBytes = 56

// newHead returns the head of a list with docs below universe.
func newHead(docs []uint32, universe uint32) Head {
	h := Head{Interval: Interval{1, 0}}
	if len(docs) > 0 {
		h.Interval = Interval{docs[0], docs[len(docs)-1]}
	}
	shift := max(bits.Len32(universe), 8) - 8
	for _, x := range docs {
		at := x >> shift
		h.ranges[at/64%4] |= 1 << (at % 64)
	}
	return h
}

// keepHeads copies the heads and the runs of all lists. Every list must be prepared.
func (t *Auxiliary) keepHeads() {
	heads, total := make([]Head, len(t.Source.Lists)), 0
	for h := range heads {
		total += len(t.Prepared(plan.Handle(h)).Runs)
	}
	t.runs = make(Runs, 0, total)
	for h := range heads {
		p := t.Prepared(plan.Handle(h))
		heads[h] = p.Head
		heads[h].at, heads[h].n, heads[h].few = uint32(len(t.runs)), uint32(len(p.Runs)), p.fewRuns()
		t.runs = append(t.runs, p.Runs...)
		p.Runs = t.runs[heads[h].at:len(t.runs):len(t.runs)]
	}
	t.heads = heads
}

// Common returns an interval with all common docIDs of lists. Without heads it returns Everywhere.
func (t *Auxiliary) Common(lists []plan.Handle) Interval {
	if len(t.heads) == 0 {
		return Everywhere
	}
	both := t.heads[lists[0]].Interval
	for _, h := range lists[1:] {
		both = both.Intersect(t.heads[h].Interval)
	}
	if both.First > both.Last {
		return both
	}
	shared := t.heads[lists[0]].ranges
	for _, h := range lists[1:] {
		for i, x := range t.heads[h].ranges {
			shared[i] &= x
		}
	}
	if shared == (ranges{}) {
		return Interval{1, 0}
	}
	return both
}

// fewPairs limits the runs of two lists that CountPair takes one after the other.
const fewPairs = 32

// CountPair returns the number of common docIDs of two lists if their heads show that there are none, or
// lead to a few runs. Else ok is false. A batch of pairs of short lists does little else.
func (t *Auxiliary) CountPair(a, b plan.Handle) (n int, ok bool) {
	if len(t.heads) == 0 {
		return 0, false
	}
	x, y := &t.heads[a], &t.heads[b]
	if max(x.First, y.First) > min(x.Last, y.Last) {
		return 0, true
	}
	p, q := &x.ranges, &y.ranges
	if p[0]&q[0]|p[1]&q[1]|p[2]&q[2]|p[3]&q[3] == 0 {
		return 0, true
	}
	if x.n == 0 || y.n == 0 || x.n+y.n > fewPairs {
		return 0, false
	}
	return countRunsOfBoth(t.runs[x.at:][:x.n], t.runs[y.at:][:y.n]), true
}

// countRunsOfBoth returns the number of docIDs of a AND b, for a few runs of each.
func countRunsOfBoth(a, b Runs) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		n += max(int(min(x.Last, y.Last))-int(max(x.First, y.First))+1, 0)
		i += notAbove(x.Last, y.Last)
		j += notAbove(y.Last, x.Last)
	}
	return n
}

// RunsOf returns the runs of list h, none if it has none or is not prepared. few tells that nothing else
// reads the list in less time.
func (t *Auxiliary) RunsOf(h plan.Handle) (runs Runs, few bool) {
	if len(t.heads) == 0 {
		if p := t.Prepared(h); p != nil {
			return p.Runs, p.fewRuns()
		}
		return nil, false
	}
	head := &t.heads[h]
	return t.runs[head.at:][:head.n], head.few
}
