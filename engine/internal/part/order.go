package part

import (
	"context"

	"heddle/engine/failure"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/order"
	"heddle/engine/internal/query"
	"heddle/engine/observe"
)

// ordered answers the queries of a request with an order, one by one.
func (p *Part) ordered(ctx context.Context, r *restricted, in *filter.Compiler, names bool) (*Answer, error) {
	out := &Answer{}
	for i := range r.Len() {
		q := new(query.Query)
		r.Get(i, q)
		in.Restart()
		call := r.call()
		if r.Explain {
			call.Explain = new(observe.Explanation)
		}
		a := order.Ask{Spec: r.Order, Query: q, Filter: r.filters[r.number(i)], Call: call, Table: p.Attributes, First: p.First, Total: r.Total, Seen: r.Seen}
		found, err := a.Search(ctx, p.Generation, in)
		if err != nil && !query.Invalid(err) {
			return nil, err
		}
		if call.Explain != nil {
			out.Explanation, out.Queued = call.Explain.String(), call.Explain.Queued
		}
		if err != nil {
			out.Errors = append(out.Errors, query.Error{Query: i, Err: failure.Wrap("search", err)})
		}
		out.Seen = append(out.Seen, found.Seen...)
		for _, place := range found.Places {
			if r.Order.Collapse != "" {
				out.Groups = append(out.Groups, place.Group)
			}
			doc := uint32(place.Doc - p.First)
			out.Docs, out.Scores, out.Keys = append(out.Docs, doc), append(out.Scores, place.Score), append(out.Keys, place.Values...)
			if names {
				name, err := p.Name(doc)
				if err != nil {
					return nil, err
				}
				out.Names = append(out.Names, name)
			}
		}
		out.Counts, out.Ends = append(out.Counts, uint64(len(found.Places))), append(out.Ends, uint64(len(out.Docs)))
		if out.Units = append(out.Units, found.Unit); r.Total > 0 {
			n := found.Count
			if n > r.Total {
				n = r.Total + 1
			}
			out.Totals = append(out.Totals, n)
		}
	}
	return out, nil
}
