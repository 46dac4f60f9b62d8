package match

import (
	"math"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// isChain reports whether ops are a chain: one short list with AND or AND NOT of further lists. The
// docIDs of the short list, the driving list, are then looked up in the further lists, in less time than
// bitsets take.
func isChain(aux *lookup.Auxiliary, ops []plan.Op) bool {
	if len(ops) == 0 || aux.Denser(ops[0].List, plan.DenseRatio) {
		return false
	}
	for i := 1; i < len(ops); i += 2 {
		if ops[i].Code != plan.OpList || i+1 == len(ops) || ops[i+1].Code != plan.OpAnd && ops[i+1].Code != plan.OpAndNot {
			return false
		}
	}
	return true
}

// chain answers a chain among the documents from from to to-1 that filter f lets pass.
func (w *worker) chain(j *batch, ops []plan.Op, from, to uint64, f *filter.Set) (count int, err error) {
	if from == to {
		return 0, nil
	}
	first := ops[0].List
	probers := w.probersOf(len(ops) / 2)
	for i, p := range probers {
		h := ops[2*i+1].List
		prepared, err := j.aux.Prepare(h)
		if err == nil {
			err = p.Open(j.aux, plan.Auto, h, prepared, int(j.src.Lists[first].Len))
		}
		if err != nil {
			return 0, err
		}
	}
	prepared, err := j.aux.Prepare(first)
	if err == nil {
		err = w.driving.open(j.aux, first, prepared, docset.Interval{First: uint32(from), Last: uint32(to - 1)})
	}
	if err != nil {
		return 0, err
	}
	for at := 0; at < w.driving.steps; {
		if err := j.ended(); err != nil {
			return 0, err
		}
		cand, next, err := w.driving.next(at, w.driving.steps)
		if err != nil {
			return 0, lookup.Named(first, err)
		}
		at = next
		cand = cand[docset.LowerBound(cand, uint32(from)):]
		if to <= math.MaxUint32 {
			cand = cand[:docset.LowerBound(cand, uint32(to))]
		}
		left := append(w.left[:0], cand...)
		w.left = left
		if f != nil {
			left = left[:f.Keep(left)]
		}
		for i, p := range probers {
			if len(left) == 0 {
				break
			}
			if ops[2*i+2].Code == plan.OpAnd {
				n, err := p.Filter(left, left, w.driving.scattered)
				if err != nil {
					return 0, lookup.Named(p.Handle, err)
				}
				left = left[:n]
				continue
			}
			w.found = append(w.found[:0], left...)
			n, err := p.Filter(w.found, left, w.driving.scattered)
			if err != nil {
				return 0, lookup.Named(p.Handle, err)
			}
			left = left[:remove(left, w.found[:n])]
		}
		count += len(left)
		if !j.queries.CountOnly {
			w.docs = append(w.docs, left...)
		}
	}
	return count, nil
}

// remove moves the docs that are not in found to the front and returns their number.
// found is a subsequence of docs.
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
