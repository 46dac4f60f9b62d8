package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"heddle/engine/failure"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/order"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// FirstPage is the Query.After that asks for Hits.After from the first page on.
const FirstPage = "*"

// Boost is a bounded function of an attribute that is added to scores: 0 up to From, Weight from To on, and linear
// between them. It falls with the attribute if To is below From, and is 0 for a document without a value. It is computed
// in integers, in steps of 2^-32 and then of Hits.Unit, and so is the same on every processor and for any number of parts.
type Boost struct {
	// Column of Query.Table: a number of at most 64 bits or a time.
	Column string
	// From and To are values of the column as predicates write them, without quotes.
	From, To string
	// Weight is the greatest value of the function. It must be positive.
	Weight float64
}

// Internal forms of a query, for the packages of this module.
type (
	pageSpec   = order.Spec
	partQuery  = coordinator.Query
	partFilter = filter.Filter
	fetchAsk   = fetch.Ask
	scoreParts = query.Why
)

// ordered reports whether the documents of the query have another order than the score, or a place at which they
// begin.
func (o *Query) ordered() bool {
	return len(o.Sort) > 0 || o.MinScore > 0 || o.Collapse != "" || o.Boost != nil || o.After != "" && o.After != order.Begin
}

// countsByScore reports whether the answer is the number of the documents with a least score.
func (o *Query) countsByScore() bool {
	return o.CountOnly && o.Total > 0 && o.MinScore > 0 && o.Offset == 0 && o.After == "" && len(o.Sort) == 0 && o.Collapse == ""
}

// Page is the internal form of the order of a query; nil for a query by score alone.
func (o *Query) Page() (*pageSpec, error) {
	wrong := func(format string, args ...any) (*pageSpec, error) {
		return nil, query.Option(fmt.Errorf(format, args...))
	}
	const members = "offset, after, sort, collapse, boost and min_score"
	switch {
	case o.Offset == 0 && o.After == "" && !o.ordered() && o.MinScore == 0 && o.CollapseLimit == 0:
		return nil, nil
	case o.K == AllMatches && !o.countsByScore():
		return wrong(members + " are for ranked queries: k must be at least 1; 0 is for the total with min_score, and boost")
	case o.Offset < 0 || o.Offset+o.K > plan.MaxK:
		return wrong("offset %d and k %d: their sum is at most %d; after has no limit", o.Offset, o.K, plan.MaxK)
	case o.Offset > 0 && o.After != "":
		return wrong("offset and after exclude each other")
	case !(o.MinScore >= 0):
		return wrong("min_score is %v, want 0 or more", o.MinScore)
	case o.CollapseLimit < 0 || o.CollapseLimit > order.MostCollapsed || o.CollapseLimit > 0 && o.Collapse == "":
		return wrong("collapse_limit is %d, want 1 to %d, and a column to collapse", o.CollapseLimit, order.MostCollapsed)
	case o.Match == AndOr && (o.ordered() || o.After != "" || o.Offset > 0):
		return wrong(members + " are for the modes or and and: and-or depends on the number of hits")
	}
	s := &order.Spec{MinScore: o.MinScore, Collapse: o.Collapse}
	if o.Collapse != "" {
		s.Most = max(o.CollapseLimit, 1)
	}
	if o.Boost != nil {
		b := order.Boost(*o.Boost)
		if err := b.Validate(); err != nil {
			return nil, err
		}
		s.Boost = &b
	}
	var err error
	s.Keys, err = order.Parse(o.Sort)
	return s, err
}

// forParts is the query for the parts of an index, with its filter and the parts of documents that it asks for, which may
// be nil.
func (o *Query) forParts(f *partFilter, ask *fetchAsk) (q partQuery) {
	q = partQuery{Fetch: ask, Text: o.Text, Literal: o.Literal, Terms: o.Terms, Weights: o.Weights, Filter: f, Caller: o.Caller, Timeout: o.Timeout,
		Options: query.Options{Match: o.Match, K: o.K, Total: o.Total, CountOnly: o.CountOnly, Scoring: o.Scoring, Statistics: o.Statistics, Expansion: o.Expansion.internal(), Dismax: o.dismax(), Fields: o.QueryFields}}
	if q.Order, q.Fault = o.Page(); q.Fault == nil && o.Table != nil {
		q.Fault = &Error{Code: Unsupported, Op: "search", Err: errors.New("Query.Table is for an index file: parts have attributes of their own")}
	}
	q.Offset, q.After = o.Offset, o.After
	if o.all() {
		q.Text, q.Literal = "*", false
	}
	return q
}

// dismax is the internal form of Tie.
func (o *Query) dismax() (d query.Dismax) {
	if d.On = o.Tie != nil; d.On {
		d.Tie = *o.Tie
	}
	return d
}

// generationOf names the content of an index in cursors.
func generationOf(g *lists.Generation) string { return strconv.FormatUint(g.Checksum(), 16) }

// generationFor names the content of an index, and of the attribute table if the order s of o depends on it.
func (o *Query) generationFor(s *order.Spec, g *lists.Generation, in *filter.Compiler) (string, error) {
	name := generationOf(g)
	if o.Table == nil || len(s.Attributes()) == 0 {
		return name, nil
	}
	t, err := in.Open(o.Table.Internal())
	if err == nil && t.File != nil {
		name += "-" + strconv.FormatUint(t.File.Checksum(), 16)
	}
	return name, err
}

// cut leaves out the first Offset documents of an answer by score, and sets the cursor of the next page.
func (o *Query) cut(g *lists.Generation, h *Hits) {
	if n := min(o.Offset, len(h.Docs)); n > 0 && o.K > 0 {
		h.Docs, h.Scores = h.Docs[n:], h.Scores[n:]
		h.Count = uint64(len(h.Docs))
	}
	if n := len(h.Docs); o.After != "" && n == o.K && n > 0 {
		h.After = (&order.Spec{}).Cursor(generationOf(g), &order.Place{Score: h.Scores[n-1], Doc: uint64(h.Docs[n-1])})
	}
}

// searchOrdered answers a query that is ordered.
func searchOrdered(ctx context.Context, g *lists.Generation, o *Query, in *filter.Compiler) (h Hits, err error) {
	defer func() { err = failure.Wrap("search", err) }()
	call, err := o.call()
	if err != nil {
		return h, err
	}
	s, err := o.Page()
	if err != nil {
		return h, err
	}
	var generation string
	if o.After != "" {
		if generation, err = o.generationFor(s, g, in); err == nil {
			err = s.ReadCursor(o.After, generation)
		}
		if err != nil {
			return h, err
		}
	}
	a := &order.Ask{Spec: s, Query: new(query.Query), Filter: o.Filter.form(), Call: call, Total: o.Total}
	o.internal(a.Query)
	a.Query.Total = 0
	if a.Query.CountOnly { // scores need a ranked query
		a.Query.K, a.Query.CountOnly = 1, false
	}
	o.whole(a.Query)
	if o.Table != nil {
		a.Table = o.Table.Internal()
	}
	found, err := a.Search(ctx, g, in)
	if err != nil {
		return h, err
	}
	places := found.Places[min(o.Offset, len(found.Places)):]
	places = places[:min(o.K, len(places))]
	h = Hits{Count: uint64(len(places)), Docs: make([]uint32, len(places)), Scores: make([]float64, len(places)), Unit: found.Unit}
	for i, p := range places {
		h.Docs[i], h.Scores[i] = uint32(p.Doc), p.Score
	}
	if o.CountOnly {
		h = Hits{Count: found.Count}
	}
	if o.Total > 0 {
		h.Total = plan.UpTo(found.Count, o.Total)
	}
	if n := len(places); o.After != "" && n == o.K {
		h.After = s.Cursor(generation, &places[n-1])
	}
	return h, fetchHits(ctx, g, o, &h)
}

// all reports whether the query matches all documents because it has an order, groups or a boost and no words.
func (o *Query) all() bool {
	return (len(o.Sort) > 0 || o.Collapse != "" || o.Boost != nil) && o.Text == "" && len(o.Terms) == 0 && o.Expr == nil
}

// whole makes q match all documents, if o does.
func (o *Query) whole(q *query.Query) {
	if o.all() {
		q.Expr = &querylang.Expr{Op: querylang.All}
	}
}

// apart reports whether a query cannot run in a batch: it is ordered, or its page is invalid.
func apart(q Query) bool {
	_, err := q.Page()
	return err != nil || q.ordered()
}

// searchMixed answers queries of which some are apart: these one by one.
func searchMixed(ctx context.Context, g *lists.Generation, qs []Query, in *filter.Compiler, deliver func(first int, hits []Hits) error) error {
	var first error
	for from := 0; from < len(qs); {
		to := from
		for to < len(qs) && !apart(qs[to]) {
			to++
		}
		if to > from {
			err := searchAll(ctx, g, qs[from:to], func(first int, hits []Hits) error { return deliver(from+first, hits) })
			if err != nil && !query.Invalid(err) {
				return err
			}
			if first == nil {
				first = err
			}
			from = to
			continue
		}
		in.Restart()
		h, err := searchIn(ctx, g, &qs[from], in)
		if failure.OfQuery(err) {
			if h = (Hits{Err: err}); first == nil {
				first = err
			}
		} else if err != nil {
			return err
		}
		if err := deliver(from, []Hits{h}); err != nil {
			return err
		}
		from++
	}
	return first
}
