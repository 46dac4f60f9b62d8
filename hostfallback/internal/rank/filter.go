package rank

import (
	"context"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/match/docset"
)

// seekSlower is the number of postings that a ranked OR reads in the time of one look-up.
const seekSlower = 8

// seeks tells whether the lists of a query are searched for the documents of its filter. A ranked
// AND looks up the documents of the shortest list, if they are fewer.
func seeks(src *plan.Source, b *plan.RankBatch, terms []plan.Term, f *filter.Set) bool {
	if f.Docs == nil {
		return false
	}
	if b.Mode == plan.And {
		return len(f.Docs) < int(src.Lists[terms[0].List].Len)
	}
	return uint64(len(f.Docs))*uint64(len(terms))*seekSlower < load(src, b.Mode, terms)
}

// seek ranks the documents of p and of the filter: it looks each of them up in the lists.
func (w *worker) seek(ctx context.Context, mode plan.Mode, p *part) error {
	docs := w.filter.Docs
	docs = docs[docset.LowerBound(docs, uint32(p.from)):]
	for i, x := range docs {
		if uint64(x) >= p.to {
			break
		}
		if i%andLen == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			p.shareThreshold(&w.best)
		}
		sum, found := uint32(0), 0
		for _, l := range w.lists {
			tf, err := l.find(x)
			if err != nil {
				return err
			}
			if tf > 0 {
				sum += contribution(uint64(l.weight), tf)
				found++
			} else if mode == plan.And {
				break
			}
		}
		if found == len(w.lists) || found > 0 && mode == plan.Or {
			w.best.add(makeKey(sum, x))
		}
	}
	return nil
}

// raiseFiltered raises the threshold to a score that k documents of the filter reach: the contribution of
// one list to its best documents.
func (w *worker) raiseFiltered(k int) {
	for _, l := range w.lists {
		if l.table == nil {
			continue
		}
		found := 0
		for _, best := range l.table.top {
			if doc, tf := best.split(); w.filter.Has(doc) {
				if found++; found == k {
					w.best.raise(contribution(uint64(l.weight), tf))
					break
				}
			}
		}
	}
}

// filterCandidates removes the documents that the filter lacks from w.candidates, and clears their scores.
// from is the first document of the range.
func (w *worker) filterCandidates(from uint32) {
	n, words := 0, w.filter.Words
	for _, d := range w.candidates { // a branch would be mispredicted
		x, passes := from+uint32(d), uint32(0)
		if int(x/32) < len(words) {
			passes = words[x/32] >> (x % 32) & 1
		}
		w.candidates[n] = d
		n += int(passes)
		w.scores[d] &= -passes
	}
	w.candidates = w.candidates[:n]
}
