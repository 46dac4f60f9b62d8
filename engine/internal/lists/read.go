package lists

import (
	"context"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/query"
)

// Read calls run, which reads q for a call. It sets the end of the reading; a long query waits
// for its turn.
func (g *Generation) Read(q *query.Query, call *Call, run func() error) error {
	q.Until = g.pool.Until(context.Background(), &call.Call)
	bytes, err := g.Effort(q)
	switch {
	case err != nil:
		return err
	case bytes <= limit.Step:
		return run()
	}
	return g.pool.Analyse(&q.Until, call.Caller, bytes, run)
}

// analyse resolves the query, a long one when its turn has come.
func (t *task) analyse(q *query.Query, call *Call) error {
	bytes, err := t.g.Effort(q)
	if err != nil {
		return err
	}
	load := call.Load // so that call stays on the stack
	if bytes <= limit.Step {
		return t.resolve(q, load)
	}
	return t.g.pool.Analyse(&q.Until, call.Caller, bytes, func() error { return t.resolve(q, load) })
}

// Scores returns the scores of documents that match q, a ranked query, and the value of 1 in the sums behind them. The
// documents ascend. Pure Go computes them.
func (g *Generation) Scores(ctx context.Context, q *query.Query, call *Call, docs []uint32) (scores []float64, unit float64, err error) {
	err = g.with(q, call, func(b *query.Batch, _ *query.Settings) (err error) {
		scores, err = b.Scores(ctx, docs)
		unit = b.Unit(0)
		return err
	})
	return scores, unit, err
}

// Why returns the parts of the score of a document that matches q, a ranked query.
func (g *Generation) Why(ctx context.Context, q *query.Query, call *Call, doc uint32) (w *query.Why, err error) {
	err = g.with(q, call, func(b *query.Batch, s *query.Settings) (err error) {
		w, err = b.Why(ctx, g.Index, s, doc)
		return err
	})
	return w, err
}

// with calls use with a batch of q alone, without its filter.
func (g *Generation) with(q *query.Query, call *Call, use func(*query.Batch, *query.Settings) error) error {
	one, b, set := *q, g.Batch(), new(query.Settings)
	defer g.Put(b)
	one.Filter = nil
	err := g.Read(&one, call, func() error {
		if err := g.Settle(set, &one.Options); err != nil {
			return err
		}
		b.Reset(&set.Kind)
		_, err := b.Add(g.Index, &one, set)
		return err
	})
	if err != nil {
		return err
	}
	return use(b, set)
}
