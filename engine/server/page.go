package server

import (
	"errors"

	"google.golang.org/protobuf/types/known/structpb"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/inspect"
	"heddle/engine/server/problem"
)

// page sets the order and the page of a ranked query on an index.
func (s *Server) page(q *engine.Query, index string, r inspect.Paged, after string) error {
	q.Offset, q.After, q.Sort, q.MinScore = int(r.GetOffset()), after, r.GetSort(), r.GetMinScore()
	q.Collapse, q.CollapseLimit = r.GetCollapse(), int(r.GetCollapseLimit())
	if q.K == 0 && q.MinScore == 0 {
		q.Weights, q.Scoring, q.Statistics = nil, nil, nil // no document has a score
	}
	var err error
	if q.Boost, err = api.BoostOf(r.GetBoost()); err != nil {
		return problem.BadRequest(err)
	}
	asked := *q
	if r.GetMode() == engine.AndOr.String() { // see countMode
		asked.Match = engine.AndOr
	}
	order, err := asked.Page()
	if err != nil {
		return problem.BadRequest(err)
	}
	if order != nil && len(order.Attributes()) > 0 {
		q.Table, err = s.attributes(index, "")
	}
	return err
}

// kinds are the fields of a batch that choose the form of an answer, beside K.
type kinds interface {
	GetMatch() bool
	GetCount() bool
}

// kind sets the form of the answer: ranked, all documents, or their number.
func (s *Server) kind(q *engine.Query, r kinds, k *uint32, total *structpb.Value, scoring *api.Scoring, statistics *api.Statistics, weights []float64) error {
	if !r.GetMatch() && !r.GetCount() {
		return s.rank(q, k, total, weights, scoring, statistics)
	}
	if k != nil && *k != 0 || total != nil || scoring != nil || statistics != nil || weights != nil {
		return problem.BadRequest(errors.New("k, total, weights, scoring and statistics are for ranked queries: omit match and count"))
	}
	if r.GetMatch() && r.GetCount() {
		return problem.BadRequest(errors.New("match and count exclude each other"))
	}
	q.CountOnly = r.GetCount()
	return nil
}
