package lookup

import (
	"math/bits"

	"heddle/engine/plan"
)

// Head shows whether lists may have a common docID, and where their runs are. The intervals of all lists
// lie one after another, their heads do, and so do their runs: a batch of very short lists reads little
// else, and often the intervals alone. They are kept if all lists are intact and memory is left.
type Head struct {
	at, n  uint32 // of the runs of the list, among the runs of all lists; n is 0 without Runs
	few    bool   // see Prepared.fewRuns
	ranges ranges // that have docIDs
}

// ranges has a bit for each of 256 ranges of documents.
type ranges [4]uint64

// headBytes is the size of a Head and an Interval.
const headBytes = 56

// newHead returns the head of a list with docs below universe.
func newHead(docs []uint32, universe uint32) (h Head) {
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
	t.intervals = make([]Interval, len(heads))
	for h := range heads {
		total += len(t.Prepared(plan.Handle(h)).Runs)
	}
	t.runs = make(Runs, 0, total)
	for h := range heads {
		p := t.Prepared(plan.Handle(h))
		heads[h], t.intervals[h] = p.Head, p.Interval
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
	both := t.intervals[lists[0]]
	for _, h := range lists[1:] {
		both = both.Intersect(t.intervals[h])
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

// fewPairs limits the runs of two lists that CountPairs takes one after the other.
const fewPairs = 32

// CountPairs counts the common docIDs of pairs of lists by their heads. Query i has the lists
// handles[offsets[i]:offsets[i+1]]. CountPairs stops at the first query that is no pair, or whose lists have
// more than a few runs; with empty set, also at the first pair with common docIDs. It writes the numbers to counts and
// returns how many there are. A batch of pairs of short lists does little else.
func (t *Auxiliary) CountPairs(counts []uint64, offsets []uint32, handles []plan.Handle, empty bool) int {
	intervals := t.intervals
	if len(intervals) == 0 {
		return 0
	}
	offsets = offsets[:len(counts)+1]
	for i := range counts {
		at := offsets[i]
		if offsets[i+1] != at+2 {
			return i
		}
		pair := (*[2]plan.Handle)(handles[at:])
		x, y := intervals[pair[0]], intervals[pair[1]]
		counts[i] = 0
		if max(x.First, y.First) > min(x.Last, y.Last) {
			continue
		}
		n, ok := t.countPair(pair)
		if !ok || n > 0 && empty {
			return i
		}
		counts[i] = uint64(n)
	}
	return len(counts)
}

// countPair returns the number of common docIDs of two lists if their heads show that there are none, or
// lead to a few runs. Else ok is false.
func (t *Auxiliary) countPair(pair *[2]plan.Handle) (n int, ok bool) {
	x, y := &t.heads[pair[0]], &t.heads[pair[1]]
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
