package hostfallback

import (
	"context"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// chain tells whether ops are one list AND or AND NOT other lists, so that each
// document of the first can be looked up in the others, and the first is so short
// that this takes less time than sets do.
func (s *store) chain(ops []plan.Op) bool {
	if len(ops) == 0 || s.tables.Denser(ops[0].List, plan.DenseRatio) {
		return false
	}
	for i := 1; i < len(ops); i += 2 {
		if ops[i].Code != plan.OpList || i+1 == len(ops) || ops[i+1].Code != plan.OpAnd && ops[i+1].Code != plan.OpAndNot {
			return false
		}
	}
	return true
}

// filter answers a chain for the documents of x.
func (w *formulaWorker) filter(ctx context.Context, s *store, ops []plan.Op, countOnly bool, x *share) error {
	if x.from == x.to {
		return nil
	}
	first := ops[0].List
	for len(w.probers) < len(ops)/2 {
		w.probers = append(w.probers, new(lookup.Prober))
	}
	for i, p := range w.probers[:len(ops)/2] {
		h := ops[2*i+1].List
		t, err := s.tables.Prepare(h)
		if err == nil {
			err = p.Open(s.tables, plan.Auto, h, t, int(s.src.Lists[first].Len))
		}
		if err != nil {
			return err
		}
	}
	t, err := s.tables.Prepare(first)
	if err == nil {
		err = w.lead.open(s, first, t, lookup.Interval{First: uint32(x.from), Last: uint32(x.to - 1)})
	}
	if err != nil {
		return err
	}
	for at := 0; at < w.lead.steps; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		cand, next, err := w.lead.next(at, w.lead.steps)
		if err != nil {
			return lookup.Named(first, err)
		}
		at = next
		cand = cand[lookup.LowerBound(cand, uint32(x.from)):]
		if x.to <= uint64(^uint32(0)) {
			cand = cand[:lookup.LowerBound(cand, uint32(x.to))]
		}
		left := append(w.left[:0], cand...)
		w.left = left
		for i, p := range w.probers[:len(ops)/2] {
			if len(left) == 0 {
				break
			}
			if ops[2*i+2].Code == plan.OpAnd {
				n, err := p.Filter(left, left, w.lead.scattered)
				if err != nil {
					return lookup.Named(p.Handle, err)
				}
				left = left[:n]
				continue
			}
			w.found = append(w.found[:0], left...)
			n, err := p.Filter(w.found, left, w.lead.scattered)
			if err != nil {
				return lookup.Named(p.Handle, err)
			}
			left = left[:remove(left, w.found[:n])]
		}
		x.count += len(left)
		if !countOnly {
			x.docs = append(x.docs, left...)
		}
	}
	return nil
}

// remove moves the docs that are not in found, a part of them in the same order,
// to the front and returns how many there are.
func remove(docs, found []uint32) (n int) {
	k := 0
	for _, x := range docs {
		docs[n] = x
		if k < len(found) && found[k] == x {
			k++
		} else {
			n++
		}
	}
	return n
}
