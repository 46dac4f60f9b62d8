package cluster

import (
	"context"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	"heddle/engine/internal/facet"
	"heddle/engine/internal/limit"
	internal "heddle/engine/internal/query"
	"heddle/engine/table/partial"
)

// facets answers the facets of all valid queries.
func (s *search) facets(ctx context.Context) error {
	if s.ask.Facets == nil {
		return nil
	}
	for i := range s.qs {
		if s.hits[i].Err != nil {
			continue
		}
		k, err := s.facetKind(ctx, i)
		if err == nil {
			err = s.countFacets(ctx, k, i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// facetKind returns the kind of query i without ranking. For engine.AndOr it is AND if all shards together
// have at least K documents, else OR.
func (s *search) facetKind(ctx context.Context, i int) (kind, error) {
	k := s.kindOf(i)
	most := uint64(k.k)
	k.total = 0
	k.k, k.count, k.scored, k.statistics = 0, false, false, nil
	if k.match != engine.AndOr || most == 0 {
		return k, nil
	}
	count := k
	count.match, count.count = engine.And, true
	ranked := s.hits[i]
	if err := s.ranges(ctx, count, []int{i}); err != nil {
		return k, err
	}
	k.match = engine.And
	if s.hits[i].Count < most {
		k.match = engine.Or
	}
	s.hits[i] = ranked
	return k, nil
}

// countFacets joins the facets of query i from all shards.
func (s *search) countFacets(ctx context.Context, k kind, i int) error {
	asked := s.ask.Facets
	r, wrong := s.message(k, []int{i})
	filters := s.filters([]int{i}, wrong)
	answers, err := each(ctx, &s.reach, &s.x.times.facets, 1, func(ctx context.Context, node api.ShardServiceClient, target *api.ShardTarget) (*api.ShardFacetsResponse, error) {
		query := &api.ShardSearchRequest{Texts: r.Texts, Lists: r.Lists, Numbers: r.Numbers, Ends: r.Ends, Literal: r.Literal, Mode: r.Mode,
			Statistics: r.Statistics, Caller: r.Caller, TimeoutUs: timeLeft(ctx), Filters: filters.of(&s.x.layout.Shards[target.Shard]), Filter: filters.numbers}
		a, err := node.ShardFacets(ctx, &api.ShardFacetsRequest{Target: target, Query: query, Columns: asked.Columns})
		if err == nil && (a.GetEpoch() != target.GetEpoch() || len(a.GetColumns()) != len(asked.Columns)) {
			err = wrongReply(target, "epoch %d and %d facets for %d columns", a.GetEpoch(), len(a.GetColumns()), len(asked.Columns))
		}
		return a, err
	})
	if err != nil {
		return err
	}
	h := &s.hits[i]
	for _, a := range answers {
		h.Matches += a.GetMatches()
	}
	if most := s.qs[i].Total; most > 0 {
		h.Total = engine.Total(internal.UpTo(h.Matches, most))
	}
	for n, name := range asked.Columns {
		var parts []*partial.State
		for number, a := range answers {
			if a == nil {
				continue
			}
			state, err := shard.StateOf(a.Columns[n])
			if err != nil {
				return wrongReply(&api.ShardTarget{Collection: s.x.layout.Name, Epoch: s.x.layout.Epoch, Shard: uint32(number)}, "a facet: %v", err)
			}
			parts = append(parts, state)
		}
		f, err := facet.Join[engine.FacetValue](name, facet.Most(asked.Limit, asked.CountOnly), limit.Limits(s.c.opt.Limits), parts)
		if err != nil {
			return &engine.Error{Code: engine.CodeOf(err), Op: "facets", Err: err}
		}
		h.Facets = append(h.Facets, engine.Facet(f))
	}
	return nil
}
