package match

import (
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// putRun appends n docIDs from first on to w.docs unless the batch is CountOnly, and returns n.
func (w *worker) putRun(j *batch, first uint32, n int) int {
	if n > 0 && !j.queries.CountOnly {
		docset.Runs{{First: first, Last: first + uint32(n-1)}}.Expand(w.tail(n + docset.Slack))
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

// byDocs answers a conjunction of w.prepared, whose first list has only a few docIDs. w.plain must be true. It
// avoids opening probers, which would take longer than the search.
func (w *worker) byDocs(j *batch, within docset.Interval) int {
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

// runsPay sets w.runLists to the runs of the lists of a conjunction. It reports whether all lists have runs
// and byRuns is the fastest way to answer.
func (w *worker) runsPay(j *batch, lists []plan.Handle) bool {
	w.runLists = w.runLists[:0]
	total := 0
	for _, h := range lists {
		runs, _ := j.aux.RunsOf(h)
		if len(runs) == 0 {
			return false
		}
		w.runLists, total = append(w.runLists, runs), total+len(runs)
	}
	n := int(j.src.Lists[lists[0]].Len)
	if j.aux.Denser(lists[0], lookup.DenseJoin) {
		return total*wordsPerRun < int(j.src.Docs/64)
	}
	return n <= fewDocs || total < n
}

// byRuns answers task t of a conjunction by joining w.runLists.
func (w *worker) byRuns(j *batch, t *task) (int, error) {
	count := 0
	driving := w.runLists[0]
	for at, end := t.steps((len(driving) + runStep - 1) / runStep); at < end; at++ {
		if err := j.ended(); err != nil {
			return 0, err
		}
		common := driving[at*runStep : min((at+1)*runStep, len(driving))]
		n := 0
		if len(w.runLists) == 1 {
			n = common.Count()
		}
		for i, r := range w.runLists[1:] {
			if j.queries.CountOnly && i == len(w.runLists)-2 {
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
			common.Expand(w.tail(n + docset.Slack))
			w.docs = w.docs[:len(w.docs)+n]
		}
	}
	return count, nil
}
