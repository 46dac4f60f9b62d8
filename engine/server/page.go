package server

import (
	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/problem"
)

// paged are the members of a query that choose its order and page.
type paged interface {
	GetOffset() uint32
	GetSort() []string
	GetMinScore() float64
	GetCollapse() string
	GetCollapseLimit() uint32
	GetBoost() *api.Boost
}

// page sets the order and the page of a ranked query on an index.
func (s *Server) page(q *engine.Query, index string, r paged, after string) error {
	q.Offset, q.After, q.Sort, q.MinScore = int(r.GetOffset()), after, r.GetSort(), r.GetMinScore()
	q.Collapse, q.CollapseLimit = r.GetCollapse(), int(r.GetCollapseLimit())
	var err error
	if q.Boost, err = api.BoostOf(r.GetBoost()); err != nil {
		return problem.BadRequest(err)
	}
	order, err := q.Page()
	if err != nil {
		return problem.BadRequest(err)
	}
	if order != nil && len(order.Attributes()) > 0 {
		q.Table, err = s.attributes(index, "")
	}
	return err
}
