package match

import (
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// putRun appends n docIDs from first on to w.docs unless the batch is CountOnly, and returns n.
func (w *worker) putRun(j *batch, first uint32, n int) int {
	if n > 0 && !j.queries.CountOnly {
		lookup.Runs{{First: first, Last: first + uint32(n-1)}}.Expand(w.tail(n + lookup.Slack))
		w.docs = w.docs[:len(w.docs)+n]
	}
	return n
}

// plain reports whether all lists of w.prepared can be searched for a few docIDs.
func (w *worker) plain() bool {
	if w.prepared[0].Docs == nil {
		return false
	}
	for _, p := range w.prepared {
		if p.Docs == nil && p.Bits == nil {
			return false
		}
	}
	return true
}

// byDocs answers a conjunction of w.prepared, which are plain, the first one with only a few docIDs. It
// spares the preparation of other ways, which would take longer than the search.
func (w *worker) byDocs(j *batch, within lookup.Interval) int {
	found := within.Cut(w.prepared[0].Docs)
	room := w.tail(len(found))
	for _, p := range w.prepared[1:] {
		found = room[:p.FilterFew(room, found)]
	}
	if !j.queries.CountOnly {
		w.docs = w.docs[:len(w.docs)+len(found)]
	}
	return len(found)
}

// runStep is the number of runs of the shortest list in one step of byRuns.
const runStep = 1024

// wordsPerRun is the number of 64-bit words that byBits joins in the time of one run.
const wordsPerRun = 4

// runsPay sets w.shorts to the runs of the lists of a conjunction and reports whether all have runs, and
// few enough.
func (w *worker) runsPay(j *batch, lists []plan.Handle) bool {
	w.shorts = w.shorts[:0]
	total := 0
	for _, h := range lists {
		runs, _ := j.aux.RunsOf(h)
		if len(runs) == 0 {
			return false
		}
		w.shorts, total = append(w.shorts, runs), total+len(runs)
	}
	n := int(j.src.Lists[lists[0]].Len)
	if j.aux.Denser(lists[0], lookup.DenseLead) {
		return total*wordsPerRun < int(j.src.Docs/64)
	}
	return n <= fewDocs || total < n
}

// byRuns answers a conjunction of w.shorts.
func (w *worker) byRuns(j *batch, t *task) (int, error) {
	count := 0
	lead := w.shorts[0]
	for at, end := t.steps((len(lead) + runStep - 1) / runStep); at < end; at++ {
		if err := j.ended(); err != nil {
			return 0, err
		}
		common := lead[at*runStep : min((at+1)*runStep, len(lead))]
		n := 0
		if len(w.shorts) == 1 {
			n = common.Count()
		}
		for i, r := range w.shorts[1:] {
			if j.queries.CountOnly && i == len(w.shorts)-2 {
				n = common.CountAnd(r)
				break
			}
			to := &w.runs[i%2]
			*to = (*to)[:0]
			n = to.AppendAnd(common, r)
			common = *to
		}
		count += n
		if !j.queries.CountOnly {
			common.Expand(w.tail(n + lookup.Slack))
			w.docs = w.docs[:len(w.docs)+n]
		}
	}
	return count, nil
}
