package hostfallback

import (
	"context"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// fewLists is the most lists of a disjunction that are joined like any formula.
const fewLists = 2

// disjunction gives the lists of a formula that has no other operator than OR,
// and false for others and for those of few lists.
func (w *formulaWorker) disjunction(ops []plan.Op) ([]plan.Handle, bool) {
	w.lists = w.lists[:0]
	for _, op := range ops {
		switch op.Code {
		case plan.OpList:
			w.lists = append(w.lists, op.List)
		case plan.OpOr:
		default:
			return nil, false
		}
	}
	return w.lists, len(w.lists) > fewLists
}

// unite appends what matches of x, a disjunction of lists, to x.docs, or counts
// it.
func (w *formulaWorker) unite(ctx context.Context, s *store, f *plan.MatchBatch, x *share, lists []plan.Handle) error {
	if err := w.union.open(s, lists, int(x.from/lookup.ChunkDocs), int((x.to+lookup.ChunkDocs-1)/lookup.ChunkDocs)); err != nil {
		return err
	}
	for ctx.Err() == nil {
		c, ok, err := w.union.next()
		if err != nil || !ok {
			return err
		}
		if f.CountOnly {
			x.count += c.count()
			continue
		}
		before := len(x.docs)
		x.docs = c.appendTo(x.docs)
		x.count += len(x.docs) - before
	}
	return ctx.Err()
}
