package shard

import (
	"context"
	"errors"
	"fmt"
	"math"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/table/column"
	"heddle/engine/table/partial"
)

// ShardAggregate implements api.ShardServiceHandler.
func (h handler) ShardAggregate(ctx context.Context, r *api.ShardAggregateRequest) (out *api.ShardAggregateResponse, err error) {
	defer reply(&err)
	t, release, err := h.shards.OpenTable(r.GetTarget().GetCollection(), r.GetTarget().GetEpoch(), int(r.GetTarget().GetShard()))
	if err != nil {
		return nil, err
	}
	defer release()
	a := engine.Aggregation{Select: r.GetSelect(), GroupBy: r.GetGroupBy(), OrderBy: r.GetOrderBy(), Limit: r.GetLimit(),
		Rows: engine.Selection{Where: r.GetWhere(), Caller: r.GetCaller(), Timeout: left(r.GetTimeoutUs())}}
	if a.Rows.In, err = rowsIn(t, r.GetIn()); err != nil {
		return nil, err
	}
	if r.GetExplain() {
		a.Rows.Explain = new(engine.TableExplanation)
	}
	a.SetInternal(new(partial.State))
	if err := t.Aggregate(ctx, a, nil); err != nil {
		return nil, err
	}
	out = message(a.Internal())
	if out.Epoch = r.GetTarget().GetEpoch(); a.Rows.Explain != nil {
		out.Explanation = a.Rows.Explain.String()
	}
	return out, nil
}

// message is the message of a state.
func message(s *partial.State) *api.ShardAggregateResponse {
	out := &api.ShardAggregateResponse{Rows: s.Rows}
	for _, c := range s.Columns {
		to := &api.StateColumn{Name: c.Name, Type: c.Type.String(), Scale: uint32(c.Scale), List: c.List}
		for _, entry := range c.Dictionary {
			to.Dictionary = append(to.Dictionary, []byte(entry))
		}
		out.Columns = append(out.Columns, to)
	}
	for _, k := range s.Keys {
		out.Keys = append(out.Keys, &api.StateValues{Values: k.List, Missing: k.Missing, Ends: k.Ends})
	}
	for _, m := range s.Measures {
		out.Measures = append(out.Measures, &api.StateMeasure{Counts: m.Counts, Sums: m.Sums, Floats: m.Floats, Extremes: m.Extremes,
			Different: m.Different, Frequencies: m.Frequencies, Ends: m.Ends})
	}
	return out
}

// StateOf is the state that a shard has answered.
func StateOf(r *api.ShardAggregateResponse) (*partial.State, error) {
	s := &partial.State{Rows: r.GetRows()}
	for _, c := range r.GetColumns() {
		kind, err := column.ParseType(c.GetType())
		if err == nil && c.GetScale() > math.MaxUint8 {
			err = errors.New("the scale is above 255")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: column %q: %w", partial.ErrState, c.GetName(), err)
		}
		to := partial.Column{Name: c.GetName(), Type: kind, Scale: uint8(c.GetScale()), List: c.GetList()}
		for _, entry := range c.GetDictionary() {
			to.Dictionary = append(to.Dictionary, string(entry))
		}
		s.Columns = append(s.Columns, to)
	}
	for _, k := range r.GetKeys() {
		s.Keys = append(s.Keys, partial.Values{List: k.GetValues(), Missing: k.GetMissing(), Ends: k.GetEnds()})
	}
	for _, m := range r.GetMeasures() {
		s.Measures = append(s.Measures, partial.Measure{Counts: m.GetCounts(), Sums: m.GetSums(), Floats: m.GetFloats(), Extremes: m.GetExtremes(),
			Different: m.GetDifferent(), Frequencies: m.GetFrequencies(), Ends: m.GetEnds()})
	}
	return s, nil
}
