package cluster

import (
	"context"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/tables"
	"heddle/engine/table/partial"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
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
		if err := checkRows(s.In, x.layout.Docs); err != nil {
			return err
		}
		r := &reach{c: c, x: x, partial: s.AllowPartial}
		answers, err := each(ctx, r, &x.times.selections, len(s.Where), func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (*api.ShardSelectResponse, error) {
			a, err := node.ShardSelect(ctx, &api.ShardSelectRequest{Target: target, Where: s.Where, In: rowsOf(s.In, x, target), Rows: s.Rows, Limit: s.Limit, Caller: s.Caller, TimeoutUs: timeLeft(ctx), Explain: s.Explain})
			if err == nil {
				err = check(&api.ShardSearchResponse{Epoch: a.GetEpoch(), Counts: a.GetCounts(), Docs: a.GetRows(), Ends: a.GetEnds(), Errors: a.GetErrors()}, target, x.layout, []int{int(target.GetShard())}, len(s.Where), &api.ShardSearchRequest{})
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

// checkRows refuses a row that the table lacks.
func checkRows(in *roaring.Bitmap, rows uint64) error {
	if in == nil || in.IsEmpty() || uint64(in.Maximum()) < rows {
		return nil
	}
	return &engine.Error{Code: engine.InvalidOption, Op: "select", Err: fmt.Errorf("in: row %d: the table has %d rows", in.Maximum(), rows)}
}

// rowsOf returns the rows that a shard selects from; empty for all.
func rowsOf(in *roaring.Bitmap, x *collection, target *api.ShardTarget) []byte {
	if in == nil {
		return nil
	}
	return partOf(in, &x.layout.Shards[target.Shard])
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

// part is the answer of a shard to an aggregation.
type part struct {
	state       *partial.State // nil: the shard is missing
	explanation string
}

// GetExplanation returns the explanation.
func (p part) GetExplanation() string { return p.explanation }

// Aggregate answers an aggregation from one epoch, with the same bytes as the whole table gives.
// The coverage is nil unless the answer may be partial.
func (c *Coordinator) Aggregate(ctx context.Context, table string, a api.Aggregation) (b values.Batch, explanation string, cover *api.Coverage, err error) {
	ctx, cancel := c.deadline(ctx, a.Timeout)
	defer cancel()
	err = c.run(ctx, table, layout.Table, func(ctx context.Context, x *collection) error {
		if err := checkRows(a.In, x.layout.Docs); err != nil {
			return err
		}
		r := &reach{c: c, x: x, partial: a.AllowPartial}
		rows := uint64(0) // greatest number of rows that each shard sends; 0: all
		if a.Limit > 0 && a.Offset <= math.MaxUint64-a.Limit {
			rows = a.Offset + a.Limit
		}
		in := a.In
		clauses := statement.Clauses{Select: a.Select, GroupBy: a.GroupBy, OrderBy: a.OrderBy}
		answers, err := each(ctx, r, &x.times.aggregations, 1, func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (part, error) {
			a, err := node.ShardAggregate(ctx, &api.ShardAggregateRequest{Target: target, Select: a.Select, Where: a.Where, GroupBy: a.GroupBy, OrderBy: a.OrderBy,
				Limit: rows, In: rowsOf(in, x, target), Caller: a.Caller, TimeoutUs: timeLeft(ctx), Explain: a.Explain})
			if err != nil {
				return part{}, err
			}
			if a.GetEpoch() != target.GetEpoch() {
				return part{}, wrongReply(target, "epoch %d", a.GetEpoch())
			}
			s, err := shard.StateOf(a)
			if err == nil {
				err = s.Check(clauses)
			}
			if err != nil {
				return part{}, wrongReply(target, "a %v", err)
			}
			return part{s, a.GetExplanation()}, nil
		})
		if err != nil {
			return err
		}
		var parts []*partial.State
		for _, answer := range answers {
			if answer.state != nil {
				parts = append(parts, answer.state)
			}
		}
		if b, err = tables.Join(clauses, limit.Limits(c.opt.Limits), parts, a.Offset, a.Limit); err != nil {
			return &engine.Error{Code: engine.CodeOf(err), Op: "aggregate", Err: err}
		}
		explanation, cover = explain(answers), r.coverage()
		return nil
	})
	return b, explanation, cover, err
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
