package server

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"google.golang.org/protobuf/types/known/structpb"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
	"heddle/engine/server/inspect"
	"heddle/engine/server/monitor"
	"heddle/engine/server/problem"
)

// inspection returns the service that shows the engine at work.
func (s *Server) inspection() *inspect.Service {
	return inspect.New(inspect.Sources{
		Snapshot: s.snapshot,
		Collection: func(name string) (*engine.CollectionSnapshot, error) {
			if s.opt.Changer == nil || !s.isCollection(name) {
				return nil, nil
			}
			return s.opt.Changer.Snapshot(name)
		},
		Ask: func(ctx context.Context, name string, q engine.Query, ask api.Ask) (h api.Hits, err error) {
			ask.Take = taking(ctx)
			hits, _, err := s.opt.Collections.SearchAll(ctx, name, []engine.Query{q}, ask)
			if err != nil {
				return h, err
			}
			return hits[0], hits[0].Err
		},
		Score:  s.score,
		Table:  func(name string) (*engine.Table, error) { return s.tables.Get(name) },
		Engine: s.processors,
		Query: func(ctx context.Context, r inspect.Asked, timeoutMs uint32) (engine.Query, error) {
			return s.query(ctx, r.GetIndex(), r, timeoutMs)
		},
		Facets: s.facets, FacetAnswer: facetAnswer,
		Rank: func(q *engine.Query, k uint32, total *structpb.Value, scoring *api.Scoring) error {
			return s.rank(q, &k, total, nil, scoring, nil)
		},
		Combine:    combine,
		Page:       s.page,
		Attributes: func(index string) (*engine.Table, error) { return s.attributes(index, "") },
		Selection: func(ctx context.Context, where string, timeoutMs uint32) engine.Selection {
			about := monitor.Of(ctx)
			about.Query = where
			return engine.Selection{Where: where, Output: plan.OutputBits, Caller: about.Caller, Timeout: s.timeout(timeoutMs)}
		},
		Remote: s.opt.Remote != nil,
		Meter:  s.opt.Meter, Machine: s.opt.Machine, Cluster: s.opt.Cluster,
		Ended: s.drain,
	})
}

// score returns the score that a query gives to a document.
func (s *Server) score(ctx context.Context, index string, q engine.Query, id uint64) (*api.ScoreExplanation, error) {
	return answer(s, index, func(x Remote) (*api.ScoreExplanation, error) {
		w, name, err := x.ExplainScore(ctx, index, q, id)
		if err != nil {
			return nil, err
		}
		return api.ScoreMessage(w, name, id), nil
	}, func(x *engine.Snapshot) (*api.ScoreExplanation, error) {
		w, err := x.ExplainScore(ctx, q, uint32(min(id, math.MaxUint32))) // no index has this document
		if engine.CodeOf(err) == engine.NotFound {
			err = &engine.Error{Code: engine.NotFound, Op: "explain score", Err: fmt.Errorf("the query does not match document %d", id)}
		}
		if err != nil {
			return nil, err
		}
		name, err := x.File().DocName(uint32(id))
		return api.ScoreMessage(w, name, id), err
	})
}

// addPages adds the routes of the web console: its files, and the events that its pages follow.
func (s *Server) addPages(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/events", func(w http.ResponseWriter, r *http.Request) {
		if err := s.inspect.Events(w, r, s.opt.Stall); err != nil {
			problem.Write(w, err)
		}
	})
	if s.opt.Console != nil {
		mux.Handle("GET /console/", s.opt.Console)
		mux.Handle("GET /{$}", http.RedirectHandler("/console/", http.StatusSeeOther))
	}
}
