package cluster

import (
	"context"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/layout"
)

// Select answers the predicates of a selection from one epoch. The error of a single predicate is
// the error of the call. The coverage is nil unless the answer may be partial.
func (c *Coordinator) Select(ctx context.Context, table string, s api.Selection) (rows []api.Rows, cover *api.Coverage, err error) {
	ctx, cancel := c.deadline(ctx, s.Timeout)
	defer cancel()
	err = c.run(ctx, table, layout.Table, func(ctx context.Context, x *collection) error {
		if len(s.Where) == 0 {
			return nil
		}
		r := &reach{c: c, x: x, partial: s.AllowPartial}
		answers, err := each(ctx, r, len(s.Where), func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (*api.ShardSelectResponse, error) {
			a, err := node.ShardSelect(ctx, &api.ShardSelectRequest{Target: target, Where: s.Where, Rows: s.Rows, Limit: s.Limit, Caller: s.Caller, TimeoutUs: timeLeft(ctx), Explain: s.Explain})
			if err == nil {
				err = check(&api.ShardSearchResponse{Epoch: a.GetEpoch(), Counts: a.GetCounts(), Docs: a.GetRows(), Ends: a.GetEnds(), Errors: a.GetErrors()}, target, len(s.Where), &api.ShardSearchRequest{})
			}
			return a, err
		})
		if err != nil {
			return err
		}
		rows, cover = joinRows(x.layout.Shards, answers, &s), r.coverage()
		return nil
	})
	return rows, cover, err
}

// joinRows joins the answers of shards, whose rows follow one another.
func joinRows(shards []layout.Shard, answers []*api.ShardSelectResponse, s *api.Selection) []api.Rows {
	rows := make([]api.Rows, len(s.Where))
	for i, a := range answers {
		if a == nil {
			continue
		}
		for _, e := range a.GetErrors() {
			rows[e.GetQuery()].Err = described(e.GetError())
		}
		start := uint64(0)
		for n, end := range a.Ends {
			r := &rows[n]
			r.Count += a.Counts[n]
			for _, row := range a.Rows[start:end] {
				if s.Limit == 0 || uint64(len(r.IDs)) < s.Limit {
					r.IDs = append(r.IDs, shards[i].First+uint64(row))
				}
			}
			start = end
		}
	}
	if len(rows) > 0 && s.Explain {
		rows[0].Explanation = explain(answers)
	}
	return rows
}

// Statistics returns the statistics of an index, with the document frequencies of terms.
func (c *Coordinator) Statistics(ctx context.Context, index string, terms ...string) (st engine.Statistics, err error) {
	ctx, cancel := c.deadline(ctx, 0)
	defer cancel()
	err = c.run(ctx, index, layout.Index, func(ctx context.Context, x *collection) error {
		f, err := (&reach{c: c, x: x}).facts(ctx, []engine.Query{{Terms: terms}}, func(*engine.Query) bool { return true })
		if err != nil {
			return err
		}
		st = engine.Statistics{Docs: f.docs, Length: f.length, DF: map[string]uint64{}}
		for i, t := range terms {
			st.DF[t] = f.known[i].df[0]
		}
		return nil
	})
	return st, err
}
