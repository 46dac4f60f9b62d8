package hostfallback

import (
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// worker is the scratch of one goroutine.
type worker struct {
	docs    []uint32 // what its tasks matched
	acc     [denseWords / 2]uint64
	lead    lead
	probers []*lookup.Prober
	autos   []*lookup.Prepared // of the lists of a query, nil unless it is under Auto
}

// query answers query q of the batch, or the part of it that t names, appends
// the docIDs to w.docs unless only counts are asked for, and returns their
// number. When the context is done it stops the job.
func (w *worker) query(j *job, q int, t *task) (int, error) {
	s, a, lists := j.store, j.batch.Algorithm, j.batch.Query(q)
	switch {
	case len(lists) == 0:
		return 0, nil
	case len(lists) == 1 && j.batch.CountOnly:
		return int(s.src.Lists[lists[0]].Len), nil
	}
	within, common := lookup.Everywhere, ^uint64(0)
	w.autos = w.autos[:0]
	if a == plan.Auto {
		for _, h := range lists {
			t, err := s.tables.Prepare(h)
			if err != nil {
				return 0, err
			}
			w.autos = append(w.autos, t)
			within = within.Intersect(t.Interval)
			common &= t.Classes
		}
		if within.First > within.Last || common == 0 {
			return 0, nil
		}
	} else {
		w.autos = append(w.autos, make([]*lookup.Prepared, len(lists))...)
	}
	for len(w.probers) < len(lists)-1 {
		w.probers = append(w.probers, new(lookup.Prober))
	}
	probers := w.probers[:len(lists)-1]
	for i, p := range probers {
		if err := p.Open(s.tables, a, lists[i+1], w.autos[i+1], int(s.src.Lists[lists[0]].Len)); err != nil {
			return 0, err
		}
	}
	if err := w.lead.open(s, lists[0], w.autos[0], within); err != nil {
		return 0, err
	}
	if len(probers) > 0 && probers[0].Bits != nil {
		switch n := len(w.lead.words.Index); {
		case n > 0 && (!w.lead.dense || 4*n < len(w.lead.bits)):
			return w.close(j, probers, t, within)
		case w.lead.dense:
			return w.dense(j, probers, t, within)
		}
	}
	count := 0
	for at, end := t.steps(w.lead.steps); at < end && !j.cancelled(); {
		cand, next, err := w.lead.next(at, end)
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

// sift sends ascending candidates, at the tail of w.docs or elsewhere, through
// the lists of probers, appends those left to w.docs unless only counts are asked
// for, and returns their number.
func (w *worker) sift(j *job, cand []uint32, probers []*lookup.Prober) (int, error) {
	room := w.tail(len(cand))
	if len(probers) == 0 {
		copy(room, cand)
	}
	for _, p := range probers {
		n, err := p.Filter(room, cand, w.lead.scattered)
		if err != nil {
			return 0, lookup.Named(p.Handle, err)
		}
		if cand = room[:n]; n == 0 {
			break
		}
	}
	if !j.batch.CountOnly {
		w.docs = w.docs[:len(w.docs)+len(cand)]
	}
	return len(cand), nil
}

// tail is room for n docIDs behind those in w.docs.
func (w *worker) tail(n int) []uint32 {
	w.docs = slices.Grow(w.docs, n)
	return w.docs[len(w.docs) : len(w.docs)+n]
}
