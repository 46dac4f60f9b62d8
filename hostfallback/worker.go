package hostfallback

// worker is the scratch of one goroutine.
type worker struct {
	docs    []uint32 // what its tasks matched
	block   [blockLen]uint32
	lead    lead
	probers []*prober
}

// query answers query q of the batch, or the part of it that t names, appends
// the docIDs to w.docs unless only counts are asked for, and returns their
// number. When the context is done it stops the job.
func (w *worker) query(j *job, q int, t *task) (int, error) {
	lists := j.batch.Query(q)
	if len(lists) == 0 {
		return 0, nil
	}
	if err := w.lead.open(j.store, lists[0]); err != nil {
		return 0, err
	}
	for len(w.probers) < len(lists)-1 {
		w.probers = append(w.probers, new(prober))
	}
	probers := w.probers[:len(lists)-1]
	for i, p := range probers {
		if err := p.open(j.store, j.batch.Algorithm, lists[i+1]); err != nil {
			return 0, err
		}
	}
	at, end := 0, w.lead.steps
	if t.part {
		at, end = t.from, min(t.to, end)
	}
	count := 0
	for at < end {
		select {
		case <-j.done:
			j.stopped.Store(true)
			return 0, nil
		default:
		}
		var cand []uint32
		var err error
		if cand, at, err = w.lead.next(at, end, &w.block); err != nil {
			return 0, named(lists[0], err)
		}
		for i, p := range probers {
			if len(cand) == 0 {
				break
			}
			n, err := p.filter(w.block[:], cand)
			if err != nil {
				return 0, named(lists[i+1], err)
			}
			cand = w.block[:n]
		}
		count += len(cand)
		if !j.batch.CountOnly {
			w.docs = append(w.docs, cand...)
		}
	}
	return count, nil
}
