package coordinator

import (
	"context"

	"heddle/engine/failure"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/tables"
	"heddle/engine/plan"
	"heddle/engine/table/facet"
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

// facetKind returns the kind of query i without ranking. For querylang.AllElseAny it is AND if all shards together
// have at least K documents, else OR.
func (s *search) facetKind(ctx context.Context, i int) (kind, error) {
	k := s.kindOf(i)
	most := uint64(k.k)
	k.total, k.order = 0, nil
	k.k, k.count, k.scored, k.statistics = 0, false, false, nil
	if k.match != querylang.AllElseAny || most == 0 {
		return k, nil
	}
	count := k
	count.match, count.count = querylang.AllTerms, true
	ranked := s.hits[i]
	if err := s.ranges(ctx, count, []int{i}); err != nil {
		return k, err
	}
	k.match = querylang.AllTerms
	if s.hits[i].Count < most {
		k.match = querylang.AnyTerm
	}
	s.hits[i] = ranked
	return k, nil
}

// countFacets joins the facets of query i from all shards.
func (s *search) countFacets(ctx context.Context, k kind, i int) error {
	asked := s.ask.Facets
	r, wrong := s.message(k, []int{i})
	filters := s.filters([]int{i}, r, wrong)
	answers, err := Spread(ctx, &s.Reach, Fan{Size: 1}, func(ctx context.Context, f *Fan) ([]Piece[*Counts], []error) {
		return s.c.shards.Facets(ctx, f, r, filters, asked.Columns)
	})
	if err != nil {
		return err
	}
	h := &s.hits[i]
	for _, a := range answers {
		h.Matches += a.Answer.Matches
	}
	if most := s.qs[i].Total; most > 0 && s.order[i] == nil {
		h.Total = plan.UpTo(h.Matches, most)
	}
	for n, name := range asked.Columns {
		var parts []*partial.State
		for _, a := range answers {
			parts = append(parts, a.Answer.Columns[n])
		}
		f, err := joinFacet(name, asked.Most(), s.c.opt.Limits, parts)
		if err != nil {
			return &failure.Error{Code: failure.CodeOf(err), Op: "facets", Err: err}
		}
		h.Facets = append(h.Facets, f)
	}
	return nil
}

// joinFacet makes a facet from the states of all parts of an index, in their order. It changes them. most is the result
// of Ask.Most. Errors: the errors of tables.Join.
func joinFacet(name string, most int, l limit.Limits, parts []*partial.State) (f facet.Facet, err error) {
	clauses, err := facet.Clauses(name)
	if err != nil {
		return f, err
	}
	b, err := tables.Join(clauses, l, parts, 0, 0)
	if err != nil {
		return f, err
	}
	err = f.Add(b, most)
	return f, err
}
