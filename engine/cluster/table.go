package cluster

import (
	"context"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/tables"
	"heddle/engine/table/partial"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// Select answers the predicates of a selection from one epoch. The error of a single predicate is
// the error of the call. The coverage is nil unless the answer may be partial.
func (c *Coordinator) Select(ctx context.Context, table string, s api.Selection) (rows []api.Rows, cover *api.Coverage, err error) {
	ctx, cancel := c.all.Deadline(ctx, s.Timeout)
	defer cancel()
	err = c.all.Run(ctx, table, layout.Table, func(ctx context.Context, x *coordinator.Collection) error {
		if len(s.Where) == 0 {
			return nil
		}
		if err := checkRows(s.In, x.Layout.Docs); err != nil {
			return err
		}
		r := &coordinator.Reach{Collection: x, Partial: s.AllowPartial}
		answers, err := each(ctx, c, r, &c.timesOf(table).selections, len(s.Where), func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (*api.ShardSelectResponse, error) {
			a, err := node.ShardSelect(ctx, &api.ShardSelectRequest{Target: target, Where: s.Where, In: rowsOf(s.In, x, target), Rows: s.Rows, Limit: s.Limit, Caller: s.Caller, TimeoutUs: timeLeft(ctx), Explain: s.Explain})
			if err == nil {
				err = check(&api.ShardSearchResponse{Epoch: a.GetEpoch(), Counts: a.GetCounts(), Docs: a.GetRows(), Ends: a.GetEnds(), Errors: a.GetErrors()}, target, x.Layout, []int{int(target.GetShard())}, len(s.Where), &api.ShardSearchRequest{})
			}
			return a, err
		})
		if err != nil {
			return err
		}
		rows, cover = joinRows(x.Layout.Shards, answers, &s), coverage(r.Coverage())
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
func rowsOf(in *roaring.Bitmap, x *coordinator.Collection, target *api.ShardTarget) []byte {
	if in == nil {
		return nil
	}
	return shard.Roaring(coordinator.RowsOf(in, &x.Layout.Shards[target.Shard]))
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

// aggregated is the answer of a shard to an aggregation.
type aggregated struct {
	state       *partial.State // nil: the shard is missing
	explanation string
}

// GetExplanation returns the explanation.
func (p aggregated) GetExplanation() string { return p.explanation }

// Aggregate answers an aggregation from one epoch, with the same bytes as the whole table gives.
// The coverage is nil unless the answer may be partial.
func (c *Coordinator) Aggregate(ctx context.Context, table string, a api.Aggregation) (b values.Batch, explanation string, cover *api.Coverage, err error) {
	ctx, cancel := c.all.Deadline(ctx, a.Timeout)
	defer cancel()
	err = c.all.Run(ctx, table, layout.Table, func(ctx context.Context, x *coordinator.Collection) error {
		if err := checkRows(a.In, x.Layout.Docs); err != nil {
			return err
		}
		r := &coordinator.Reach{Collection: x, Partial: a.AllowPartial}
		rows := uint64(0) // greatest number of rows that each shard sends; 0: all
		if a.Limit > 0 && a.Offset <= math.MaxUint64-a.Limit {
			rows = a.Offset + a.Limit
		}
		in := a.In
		clauses := statement.Clauses{Select: a.Select, GroupBy: a.GroupBy, OrderBy: a.OrderBy}
		answers, err := each(ctx, c, r, &c.timesOf(table).aggregations, 1, func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (aggregated, error) {
			a, err := node.ShardAggregate(ctx, &api.ShardAggregateRequest{Target: target, Select: a.Select, Where: a.Where, GroupBy: a.GroupBy, OrderBy: a.OrderBy,
				Limit: rows, In: rowsOf(in, x, target), Caller: a.Caller, TimeoutUs: timeLeft(ctx), Explain: a.Explain})
			if err != nil {
				return aggregated{}, err
			}
			if a.GetEpoch() != target.GetEpoch() {
				return aggregated{}, wrongReply(target, "epoch %d", a.GetEpoch())
			}
			s, err := shard.StateOf(a)
			if err == nil {
				err = s.Check(clauses)
			}
			if err != nil {
				return aggregated{}, wrongReply(target, "a %v", err)
			}
			return aggregated{s, a.GetExplanation()}, nil
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
		if b, err = tables.Join(clauses, c.limits, parts, a.Offset, a.Limit); err != nil {
			return &engine.Error{Code: engine.CodeOf(err), Op: "aggregate", Err: err}
		}
		explanation, cover = explain(answers), coverage(r.Coverage())
		return nil
	})
	return b, explanation, cover, err
}

// each sends a request of its own to each shard within reach, at the same time. Size is the number of
// queries. The answer of a missing shard is the zero value.
func each[A any](ctx context.Context, c *Coordinator, r *coordinator.Reach, t *window, size int, ask func(context.Context, api.ShardServiceClient, *api.ShardTarget) (A, error)) ([]A, error) {
	pieces, err := coordinator.Spread(ctx, r, coordinator.Fan{Size: size}, func(ctx context.Context, f *coordinator.Fan) ([]coordinator.Piece[A], []error) {
		return spread(ctx, c.network, t, f, alone(r.Layout, ask))
	})
	answers := make([]A, len(r.Layout.Shards))
	for _, p := range pieces {
		answers[p.Shards[0]] = p.Answer
	}
	return answers, err
}

// alone asks for one shard.
func alone[A any](m *layout.Map, ask func(context.Context, api.ShardServiceClient, *api.ShardTarget) (A, error)) asking[A] {
	return func(ctx context.Context, n *node, shards []int) (A, []int, error) {
		a, err := ask(ctx, n.client, target(m, shards[0]))
		return a, shards, err
	}
}

// explain joins the explanations of shards.
func explain[A interface{ GetExplanation() string }](answers []A) string {
	texts := make([]string, len(answers))
	for i, a := range answers {
		texts[i] = a.GetExplanation()
	}
	return coordinator.Explain(texts)
}
