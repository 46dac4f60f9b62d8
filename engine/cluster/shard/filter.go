package shard

import (
	"bytes"
	"context"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/table/rowset"
)

// ShardFacets implements api.ShardServiceHandler.
func (h handler) ShardFacets(ctx context.Context, m *api.ShardFacetsRequest) (*api.ShardFacetsResponse, error) {
	return use(h, m.GetTarget(), func(x *pinned) (*api.ShardFacetsResponse, error) {
		q, err := queriesOf(m.GetQuery())
		if err != nil {
			return nil, err
		}
		filters, err := filtersOf(m.GetQuery().GetFilters())
		if err != nil {
			return nil, err
		}
		matches, states, err := x.Facets(ctx, q, filters, m.GetColumns())
		if err != nil {
			return nil, err
		}
		out := &api.ShardFacetsResponse{Epoch: m.GetTarget().GetEpoch(), Matches: matches}
		for _, s := range states {
			out.Columns = append(out.Columns, message(s))
		}
		return out, nil
	})
}

// rowsIn returns the rows of a table that a request permits; nil for all.
func rowsIn(t *engine.Table, in []byte) ([]uint64, error) {
	if len(in) == 0 {
		return nil, nil
	}
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	b, err := rowset.ReadRoaring(bytes.NewReader(in), info.Rows)
	if err != nil {
		return nil, invalidOption("select", "in: %w", err)
	}
	return rowset.FromRoaring(b, info.Rows)
}
