package hostfallback

import (
	"context"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/work"
)

// share is a range of documents of one formula: what one goroutine evaluates at
// a time. The matches of all shares, one after the other, are those of the batch.
type share struct {
	formula  int
	from, to uint64 // documents
	count    int
	docs     []uint32
}

// evaluation is one batch of formulas on its way. It is reused.
type evaluation struct {
	shares []share
}

// shareLoad is the least work that is worth a share of its own, in docIDs read.
const shareLoad = 64 << 10

// listLoad is what opening a list in a share costs, in docIDs read.
const listLoad = 128

// evaluate answers boolean expressions.
func (s *store) evaluate(ctx context.Context, f *plan.MatchBatch, out *plan.Results) error {
	return work.Run(ctx, &s.gate, "match", f, s.src, &out.Stats, func() error { return s.evaluateAll(ctx, f, out) })
}

func (s *store) evaluateAll(ctx context.Context, f *plan.MatchBatch, out *plan.Results) error {
	out.Reset()
	e := s.evaluations.Get().(*evaluation)
	defer s.evaluations.Put(e)
	e.cut(s, f)
	if len(e.shares) > 0 && !f.CountOnly { // what the first one finds stays where it is
		e.shares[0].docs, out.Docs = out.Docs, nil
	}
	err := work.Parallel(ctx, s.opt.Threads, len(e.shares), func(_, i int) error {
		w := s.formulaWorkers.Get().(*formulaWorker)
		defer s.formulaWorkers.Put(w)
		return w.evaluate(ctx, s, f, &e.shares[i])
	})
	if err != nil {
		return err
	}
	e.gather(f, out)
	out.Stats = plan.Stats{
		Queries:    uint64(f.Queries()),
		Candidates: f.Candidates(s.src),
		Matches:    out.Offsets[f.Queries()],
	}
	return nil
}

// cut makes the shares: a formula is one, or as many as its lists are worth.
func (e *evaluation) cut(s *store, f *plan.MatchBatch) {
	n := 0
	add := func(formula int, from, to uint64) {
		if n == len(e.shares) {
			e.shares = append(e.shares, share{})
		}
		x := &e.shares[n]
		x.formula, x.from, x.to, x.count, x.docs = formula, from, to, 0, x.docs[:0]
		n++
	}
	e.shares = e.shares[:cap(e.shares)]
	grain := max(shareLoad, f.Candidates(s.src)/uint64(16*s.opt.Threads))
	universe := uint64(s.src.Docs)
	for i := range f.Queries() {
		load, lists := uint64(0), uint64(0)
		for _, op := range f.Expression(i) {
			if op.Code == plan.OpList {
				load += uint64(s.src.Lists[op.List].Len)
				lists++
			}
		}
		parts := max(min(load/max(grain, listLoad*lists), (universe+rangeDocs-1)/rangeDocs), 1)
		if s.opt.Threads == 1 {
			parts = 1
		}
		size := (universe/parts/rangeDocs + 1) * rangeDocs
		for from := uint64(0); from == 0 || from < universe; from += size {
			add(i, from, min(from+size, universe))
		}
	}
	e.shares = e.shares[:n]
}

// gather makes offsets of the counts and joins the docIDs.
func (e *evaluation) gather(f *plan.MatchBatch, out *plan.Results) {
	out.Offsets = slices.Grow(out.Offsets[:0], f.Queries()+1)[:f.Queries()+1]
	clear(out.Offsets)
	total := 0
	for i := range e.shares {
		x := &e.shares[i]
		total += x.count
		out.Offsets[x.formula+1] = uint64(total)
	}
	if len(e.shares) == 0 || f.CountOnly {
		return
	}
	out.Docs, e.shares[0].docs = slices.Grow(e.shares[0].docs, total-e.shares[0].count), nil
	for _, x := range e.shares[1:] {
		out.Docs = append(out.Docs, x.docs...)
	}
}
