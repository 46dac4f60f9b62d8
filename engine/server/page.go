package server

import (
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
