package match

import (
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// plain reports whether all lists of w.prepared have docIDs.
func (w *worker) plain() bool {
	for _, p := range w.prepared {
		if p.Docs == nil {
			return false
		}
	}
	return true
}

// byDocs answers a conjunction of w.prepared, which have docIDs, the first one only a few. It spares
// the preparation of other ways, which would take longer than the search.
func (w *worker) byDocs(j *batch, within lookup.Interval) int {
	found := within.Cut(w.prepared[0].Docs)
	room := w.tail(len(found))
	for _, p := range w.prepared[1:] {
		n, at := 0, 0
		for _, x := range found {
			if at += lookup.Gallop(p.Docs[at:], x); at == len(p.Docs) {
				break
			}
			room[n] = x
			n += lookup.Equal(p.Docs[at], x)
		}
		found = room[:n]
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

// runsPay reports whether all lists of a conjunction have runs, and few enough.
func (w *worker) runsPay(j *batch, lists []plan.Handle) bool {
	total := 0
	for _, p := range w.prepared {
		if p.Runs.Len() == 0 {
			return false
		}
		total += p.Runs.Len()
	}
	if a, b := w.prepared[0].Bits, w.prepared[1].Bits; a != nil && b != nil && j.aux.Denser(lists[0], lookup.DenseLead) {
		return total*wordsPerRun < min(len(a), len(b))/2
	}
	return total < int(j.src.Lists[lists[0]].Len)
}

// byRuns answers a conjunction of w.prepared, which have runs.
func (w *worker) byRuns(j *batch, t *task) (int, error) {
	count := 0
	lead := w.prepared[0].Runs
	for at, end := t.steps((lead.Len() + runStep - 1) / runStep); at < end; at++ {
		if err := j.ended(); err != nil {
			return 0, err
		}
		common, n := lead.Part(at*runStep, min((at+1)*runStep, lead.Len())), 0
		for i, p := range w.prepared[1:] {
			to := &w.runs[i%2]
			to.Reset()
			n = to.AppendAnd(common, p.Runs)
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
