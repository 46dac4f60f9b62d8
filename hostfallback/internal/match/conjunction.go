package match

import (
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// worker is the scratch memory of one goroutine.
type worker struct {
	docs        []uint32 // matches of its tasks
	candidates  uint64   // candidates of its queries so far: see plan.MatchBatch.Candidates
	pairAnswers lookup.Pairs
	accWords    [denseWords / 2]uint64
	accIndex    [denseWords / 2]uint32
	driving     drivingList
	probers     []*lookup.Prober
	prepared    []*lookup.Prepared // the lists of a query under plan.Auto, else nil
	runLists    []docset.Runs      // the runs of each list of a query
	runs        [2]docset.Runs     // common runs of the lists joined so far, and of one list more

	stack       *stack   // evaluates expressions; nil before the first one
	left, found []uint32 // docIDs of a chain: not dropped yet, and found in the list of an AND NOT
}

// probersOf returns n probers.
func (w *worker) probersOf(n int) []*lookup.Prober {
	for len(w.probers) < n {
		w.probers = append(w.probers, new(lookup.Prober))
	}
	return w.probers[:n]
}

// conjunction answers task t, a part of the conjunction of lists, among the documents of filter f;
// nil stands for all documents. It appends the docIDs to w.docs unless the batch is CountOnly, and
// returns their number.
func (w *worker) conjunction(j *batch, lists []plan.Handle, t *task, f *filter.Set) (int, error) {
	switch {
	case len(lists) == 0:
		return 0, nil
	case len(lists) == 1 && j.queries.CountOnly && f == nil:
		return int(j.src.Lists[lists[0]].Len), nil
	}
	a := j.queries.Algorithm
	within := docset.Everywhere
	w.prepared = w.prepared[:0]
	if a == plan.Auto {
		if within = j.aux.Common(lists); within.First > within.Last {
			return 0, nil
		}
		if t.parts > 0 { // all parts must choose the same way, and preparing a list can change it
			for _, h := range lists {
				if _, err := j.aux.Prepare(h); err != nil {
					return 0, err
				}
			}
		}
		if f == nil && w.runsPay(j, lists) {
			return w.byRuns(j, t)
		}
		for _, h := range lists {
			p, err := j.aux.Prepare(h)
			if err != nil {
				return 0, err
			}
			w.prepared = append(w.prepared, p)
			within = within.Intersect(p.Interval)
		}
		switch {
		case within.First > within.Last:
			return 0, nil
		case f != nil || len(lists) == 1:
		case j.src.Lists[lists[0]].Len <= fewDocs && w.plain():
			return w.byDocs(j, within), nil
		}
	} else {
		w.prepared = append(w.prepared, make([]*lookup.Prepared, len(lists))...)
	}
	probers, err := w.open(j, lists, within, f)
	if err != nil {
		return 0, err
	}
	if len(probers) > 0 && probers[0].Bits != nil {
		switch n := len(w.driving.words.Index); {
		case n > 0 && (!w.driving.dense || 4*n < len(w.driving.bits)):
			return w.byWords(j, probers, t, within)
		case w.driving.dense:
			return w.byBits(j, probers, t, within)
		}
	}
	count := 0
	for at, end := t.steps(w.driving.steps); at < end; {
		if err := j.ended(); err != nil {
			return 0, err
		}
		cand, next, err := w.driving.next(at, end)
		if err != nil {
			return 0, lookup.Named(lists[0], err)
		}
		n, err := w.sift(j, cand, probers)
		if err != nil {
			return 0, err
		}
		count, at = count+n, next
	}
	return count, nil
}

// open opens the driving list of a conjunction and returns the probers of the remaining lists. The bits of
// a filter are the first prober; a filter with fewer documents than the shortest list is the driving list.
func (w *worker) open(j *batch, lists []plan.Handle, within docset.Interval, f *filter.Set) ([]*lookup.Prober, error) {
	a, candidates, prepared := j.queries.Algorithm, int(j.src.Lists[lists[0]].Len), w.prepared
	seeks := f != nil && j.seeks(lists, f)
	if seeks {
		candidates = len(f.Docs)
		w.driving.openDocs(within.Cut(f.Docs))
	} else {
		if err := w.driving.open(j.aux, lists[0], prepared[0], within); err != nil {
			return nil, err
		}
		lists, prepared = lists[1:], prepared[1:]
	}
	n := len(lists)
	if f != nil && !seeks {
		n++
	}
	all := w.probersOf(n)
	rest := all[n-len(lists):]
	for i, p := range rest {
		if err := p.Open(j.aux, a, lists[i], prepared[i], candidates); err != nil {
			return nil, err
		}
	}
	if len(rest) < n {
		all[0].OpenBits(f.Words)
	}
	return all, nil
}

// sift looks ascending candidates up in the lists of probers. It appends the documents that all
// lists contain to w.docs unless the batch is CountOnly, and returns their number. The
// candidates may lie behind the end of w.docs.
func (w *worker) sift(j *batch, cand []uint32, probers []*lookup.Prober) (int, error) {
	room := w.tail(len(cand))
	if len(probers) == 0 && len(cand) > 0 && &room[0] != &cand[0] {
		copy(room, cand)
	}
	for _, p := range probers {
		n, err := p.Filter(room, cand, w.driving.scattered)
		if err != nil {
			return 0, lookup.Named(p.Handle, err)
		}
		if cand = room[:n]; n == 0 {
			break
		}
	}
	if !j.queries.CountOnly {
		w.docs = w.docs[:len(w.docs)+len(cand)]
	}
	return len(cand), nil
}

// decoded returns the number of blocks that w has decoded since the last call.
func (w *worker) decoded() uint64 {
	n := w.driving.decoded
	w.driving.decoded = 0
	for _, p := range w.probers {
		n += p.Decoded()
	}
	return n
}

// tail returns memory for n docIDs behind w.docs.
func (w *worker) tail(n int) []uint32 {
	w.docs = slices.Grow(w.docs, n)
	return w.docs[len(w.docs) : len(w.docs)+n]
}
