package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/inspect"
	"heddle/engine/server/problem"
	"heddle/engine/table/rowset"
)

// filter returns the filter of a query on an index; nil if it has none.
func (s *Server) filter(index string, r *api.Filter) (*engine.Filter, error) {
	if r == nil {
		return nil, nil
	}
	if r.Where == "" && r.Docs == nil && r.Roaring == nil && len(r.And) == 0 {
		return nil, problem.BadRequest(errors.New("filter: it has no part: want where, docs, roaring or and"))
	}
	f := &engine.Filter{Where: r.Where}
	var err error
	if r.Where != "" {
		if f.Table, err = s.attributes(index, r.Table); err != nil {
			return nil, err
		}
	} else if r.Table != "" {
		return nil, problem.BadRequest(errors.New("filter: table is for where"))
	}
	if r.Docs != nil {
		if err := problem.Within("documents", len(r.Docs.Ids), s.limits().Documents); err != nil {
			return nil, err
		}
		f.Docs = make([]uint32, len(r.Docs.Ids))
		for i, id := range r.Docs.Ids {
			if id >= math.MaxUint32 {
				return nil, problem.BadRequest(fmt.Errorf("filter: docs.ids[%d] is %d: the index lacks the document", i, id))
			}
			f.Docs[i] = uint32(id)
		}
	}
	if r.Roaring != nil {
		if f.Bitmap, err = rowset.ReadRoaring(bytes.NewReader(r.Roaring), math.MaxUint32); err != nil {
			return nil, problem.BadRequest(fmt.Errorf("filter: roaring: %w", err))
		}
	}
	for _, a := range r.And {
		more, err := s.filter(index, a)
		if err != nil {
			return nil, err
		}
		if more == nil {
			return nil, problem.BadRequest(errors.New("filter: and has an empty part"))
		}
		f.And = append(f.And, more)
	}
	return f, nil
}

// attributes returns the attribute table of an index, whose name is the name of the index unless the
// request names another; nil for an index that lies in parts, which have tables of their own.
func (s *Server) attributes(index, table string) (*engine.Table, error) {
	if s.remoteOf(index) != nil {
		if table != "" {
			return nil, problem.BadRequest(errors.New("table: a cluster or collection has one attribute table, without a name"))
		}
		return nil, nil
	}
	return s.tables.Get(cmp.Or(table, index))
}

// facets returns the facets that a search asks for; nil for none.
func (s *Server) facets(r inspect.Counted) (*engine.Facets, error) {
	asked := r.GetFacets()
	if asked == nil {
		return nil, nil
	}
	f := &engine.Facets{Columns: asked.GetColumns(), Limit: engine.DefaultFacets}
	if asked.Limit != nil {
		f.Limit, f.CountOnly = int(asked.GetLimit()), asked.GetLimit() == 0
	}
	if err := problem.Within("documents", f.Limit*len(f.Columns), s.limits().Documents); err != nil {
		return nil, err
	}
	var err error
	f.Table, err = s.attributes(r.GetIndex(), asked.GetTable())
	return f, err
}

// facetAnswer is the answer to facets.
func facetAnswer(matches uint64, all []engine.Facet) *api.FacetAnswer {
	out := &api.FacetAnswer{Matches: matches}
	for _, f := range all {
		facet := &api.Facet{Column: f.Column, Distinct: f.Distinct}
		for _, v := range f.Values {
			value := &api.FacetValue{Missing: v.Missing, Count: v.Count}
			if !v.Missing {
				text := strings.ToValidUTF8(v.Value, "\uFFFD")
				value.Value = &text
			}
			facet.Values = append(facet.Values, value)
		}
		out.Columns = append(out.Columns, facet)
	}
	return out
}
