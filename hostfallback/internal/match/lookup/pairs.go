package lookup

import (
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
)

// Pairs is the answer of Auxiliary.Pairs, and the memory that it needs. The zero value asks for counts alone.
type Pairs struct {
	WithDocs   bool        // Docs are wanted
	Docs       []uint32    // with WithDocs, the common docIDs of all pairs, pair by pair
	Count      int         // number of common docIDs of all pairs
	Candidates uint64      // the sum of the lengths of the shorter lists
	runs       docset.Runs // common runs of one pair
}

// Pairs answers the leading queries that are pairs of lists and need only the marks, the heads and the runs of
// both. Query i has the lists handles[offsets[i]:offsets[i+1]]; the batch may have queries that are not valid. Pairs
// writes out.Count behind each query to totals, and returns how many queries it has answered. A batch of pairs of
// short lists does little else.
func (t *Auxiliary) Pairs(totals []uint64, offsets []uint32, handles []plan.Handle, out *Pairs) (answered int) {
	s := t.heads.Load()
	if s == nil {
		return 0
	}
	marks, candidates := s.marks, uint64(0)
	at := offsets[0]
	for i, end := range offsets[1 : len(totals)+1] {
		if uint64(end) != uint64(at)+2 || int(end) > len(handles) {
			break
		}
		h, g := handles[at], handles[at+1]
		if uint64(max(h, g)) >= uint64(len(marks)) {
			break
		}
		x, y := &marks[h], &marks[g]
		if uint64(x.length)<<32|uint64(h) >= uint64(y.length)<<32|uint64(g) {
			break
		}
		if max(x.First, y.First) <= min(x.Last, y.Last) && !s.pair(h, g, t.Source.Docs, out) {
			break
		}
		candidates += uint64(x.length)
		totals[i] = uint64(out.Count)
		answered, at = i+1, end
	}
	out.Candidates += candidates
	return answered
}

// comparedRuns is the number of runs of each list that are compared one by one instead of looked up.
const comparedRuns = 4

// pair adds the common docIDs of two lists to out. It reports false if marks, heads and runs do not suffice to find
// them. All docIDs are below universe.
func (s *summary) pair(h, g plan.Handle, universe uint32, out *Pairs) bool {
	x, y := &s.marks[h], &s.marks[g]
	n := 0
	if x.n-1 < comparedRuns && y.n-1 < comparedRuns {
		a, b := s.runs[x.at:][:x.n], s.runs[y.at:][:y.n]
		if n = a.CountFew(b); n > 0 && out.WithDocs {
			out.runs = out.runs[:0]
			out.runs.AppendAnd(a, b)
		}
	} else {
		if !s.heads[h].ranges.overlap(&s.heads[g].ranges) {
			return true
		}
		if x.n > y.n {
			x, y = y, x
		}
		if x.n == 0 || y.start == 0 || x.n > max(codec.SegmentLen, min(x.length/2, universe/512)) {
			return false
		}
		n = out.find(s.runs[x.at:][:x.n], s.runs[y.at:], y.Interval, s.starts[y.start:])
	}
	if n > 0 && out.WithDocs {
		out.add(n)
	}
	out.Count += n
	return true
}

// add adds the n docIDs of out.runs to out.Docs.
func (p *Pairs) add(n int) {
	end := len(p.Docs)
	p.Docs = slices.Grow(p.Docs, n+docset.Slack)
	p.runs.Expand(p.Docs[end:][:n+docset.Slack])
	p.Docs = p.Docs[:end+n]
}

// find sets p.runs to the common runs of lists a and b and returns the number of their docIDs. It looks up the
// runs of a in b. within is the interval of b, index the index of its runs (see indexSize); more runs and more of
// other indexes may follow b and index.
func (p *Pairs) find(a, b docset.Runs, within docset.Interval, index []uint16) (docs int) {
	found := p.runs[:0]
	shift := index[0] & 31
	index = index[1:]
	for _, x := range a {
		from := (min(max(x.First, within.First), within.Last) - within.First) >> shift
		for k := index[from]; b[k].First <= x.Last; k++ {
			if first, last := max(x.First, b[k].First), min(x.Last, b[k].Last); first <= last {
				found = append(found, docset.Run{First: first, Last: last})
				docs += int(last-first) + 1
			}
		}
	}
	p.runs = found
	return docs
}
