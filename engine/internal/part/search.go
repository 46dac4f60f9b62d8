package part

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/facet"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/table/partial"
	"heddle/engine/table/result"
)

// Queries are the queries of a request, for several parts.
type Queries struct {
	*Request
	terms   []string // terms that Numbers name
	options query.Options
}

// Prepare makes the queries of a request, whose Numbers and Ends must be right.
func Prepare(r *Request) *Queries {
	q := &Queries{Request: r, terms: make([]string, len(r.Numbers))}
	for i, n := range r.Numbers {
		q.terms[i] = r.Statistics.Terms[n]
	}
	q.options = query.Options{Match: r.Match, K: r.K, Total: r.Total, CountOnly: r.Count, Scoring: r.Scoring, Expansion: r.Expansion, Dismax: r.Dismax, Fields: r.Fields}
	if s := r.Statistics; s != nil {
		q.options.Statistics = &bm25.Statistics{Docs: s.Docs, Length: s.Length, Fields: s.Fields, Shard: !s.Replaced, DF: make(map[string]uint64, len(s.Terms))}
		for i, t := range s.Terms {
			q.options.Statistics.DF[t] = s.DF[i]
		}
	}
	return q
}

// Len is the number of queries.
func (q *Queries) Len() int { return len(q.Texts) + len(q.Lists) + len(q.Ends) }

// set sets the text or the terms of query i.
func (q *Queries) set(i int, to *query.Query) {
	to.Text, to.Literal, to.Terms, to.Weights, to.Expr, to.Filter, to.Fault = "", q.Literal, nil, nil, nil, nil, nil
	if i < len(q.Texts) {
		to.Text = q.Texts[i]
		return
	}
	if i -= len(q.Texts); i < len(q.Lists) {
		to.Terms, to.Weights = q.Lists[i].Terms, q.Lists[i].Weights
		return
	}
	i -= len(q.Lists)
	start := uint32(0)
	if i > 0 {
		start = q.Ends[i-1]
	}
	to.Terms = q.terms[start:q.Ends[i]:q.Ends[i]]
}

// restricted is queries with the filters of a part. It implements lists.Queries.
type restricted struct {
	*Queries
	filters []*filter.Filter // by number; number 0 is the filter of queries without one
	sets    []compiled       // by number, of queries in a batch
}

// compiled is the set of a filter, or the reason why the filter is invalid.
type compiled struct {
	set *lists.Filter
	err error
}

// restrict gives the queries the filters of the part. No query finds a deleted document.
func (p *Part) restrict(q *Queries, with []*filter.Filter) (*restricted, error) {
	if n := len(q.Filter); n > 0 && n != q.Len() {
		return nil, invalidOption("search", "filter has %d numbers for %d queries", n, q.Len())
	}
	for i, n := range q.Filter {
		if uint64(n) > uint64(len(with)) {
			return nil, invalidOption("search", "filter[%d] is %d: there are %d filters", i, n, len(with))
		}
	}
	r := &restricted{Queries: q, filters: make([]*filter.Filter, 1+len(with))}
	if p.Live != nil {
		r.filters[0] = p.Live.Filter
	}
	for i, f := range with {
		own, err := p.attributed(f)
		if err != nil {
			return nil, err
		}
		if r.filters[i+1] = own; p.Live != nil {
			r.filters[i+1] = &filter.Filter{And: []*filter.Filter{p.Live.Filter, own}}
		}
	}
	return r, nil
}

// number is the number of the filter of query i.
func (r *restricted) number(i int) uint32 {
	if len(r.Filter) == 0 {
		return 0
	}
	return r.Filter[i]
}

// Get implements lists.Queries.
func (r *restricted) Get(i int, to *query.Query) (load uint64) {
	to.Options = r.options
	r.Next(i, to)
	return 0
}

// Next implements lists.Queries.
func (r *restricted) Next(i int, to *query.Query) (changed bool) {
	r.set(i, to)
	n := r.number(i)
	if n == 0 && to.Text == "" && len(to.Terms) == 0 && (r.filters[0] != nil || len(r.Filter) > 0) {
		to.Expr = &querylang.Expr{Op: querylang.Or} // no query: that documents are deleted makes it none
	}
	if r.sets == nil || r.filters[n] == nil {
		return false
	}
	if to.Fault = r.sets[n].err; to.Fault == nil {
		to.Filter = r.sets[n].set
	}
	return false
}

// call is the caller of the queries and how they run.
func (q *Queries) call() lists.Call {
	return lists.Call{Call: pool.Call{Caller: q.Caller, Timeout: q.Timeout}}
}

// errNoAttributes is the error of a filter or facets that need attributes.
var errNoAttributes = errors.New("the documents have no attributes: build the index or collection with an attribute table")

// attributed returns a filter with the attribute table of the part.
func (p *Part) attributed(f *filter.Filter) (*filter.Filter, error) {
	own := &filter.Filter{Where: f.Where, Bitmap: f.Bitmap, Docs: f.Docs}
	if f.Where != "" {
		if own.Table = p.Attributes; own.Table == nil {
			return nil, &failure.Error{Code: failure.InvalidQuery, Op: "search", Err: fmt.Errorf("filter: %w", errNoAttributes)}
		}
	}
	for _, a := range f.And {
		more, err := p.attributed(a)
		if err != nil {
			return nil, err
		}
		own.And = append(own.And, more)
	}
	return own, nil
}

// Search answers queries with the filters of this part.
func (p *Part) Search(ctx context.Context, q *Queries, filters []*filter.Filter, names bool) (out *Answer, err error) {
	defer func() { err = failure.Wrap("search", err) }()
	defer mapped.Catch(mapped.Watch(), &err)
	r, err := p.restrict(q, filters)
	if err != nil {
		return nil, err
	}
	var in filter.Compiler
	defer in.Release()
	if q.Order != nil {
		return p.ordered(ctx, r, &in, names)
	}
	if q.Len() != 1 {
		return p.searchAll(ctx, r, &in, names)
	}
	call, one := q.call(), query.Get()
	if q.Explain {
		call.Explain = new(observe.Explanation)
	}
	r.Get(0, one)
	a, err := in.Search(ctx, p.Generation, one, r.filters[r.number(0)], &call)
	if err != nil && !query.Invalid(err) {
		return nil, err
	}
	w := newWriter(p, q, new(Answer), 1, len(a.Docs), names)
	if err := w.add(0, &a, err); err != nil {
		return nil, err
	}
	if q.Explain {
		w.out.Explanation, w.out.Queued = call.Explain.String(), call.Explain.Queued
	}
	return w.out, nil
}

// searchAll answers queries in batches.
func (p *Part) searchAll(ctx context.Context, r *restricted, in *filter.Compiler, names bool) (*Answer, error) {
	call := r.call()
	for i := range r.Len() {
		n := r.number(i)
		if r.filters[n] == nil || r.sets != nil && r.sets[n] != (compiled{}) {
			continue
		}
		if r.sets == nil {
			r.sets = make([]compiled, len(r.filters))
			call.Deadline = p.Until(ctx, &call.Call).Deadline
		}
		c := &r.sets[n]
		if c.set, c.err = in.Compile(ctx, p.Generation, r.filters[n], &call.Call); c.err != nil && !query.Invalid(c.err) {
			return nil, fmt.Errorf("queries[%d]: %w", i, c.err)
		}
	}
	var mu sync.Mutex
	var written []*writer
	err := p.SearchAll(ctx, r, &call, func(first int, b *lists.Block) (err error) {
		defer mapped.Catch(mapped.Watch(), &err) // names are read from the file
		docs := 0
		for i := range b.Len() {
			_, all, _ := b.Hits(i)
			docs += len(r.within(all))
		}
		w := newWriter(p, r.Queries, pieces.Get().(*Answer), b.Len(), docs, names)
		w.first = first
		for i := range b.Len() {
			a := lists.Answer{Unit: b.Unit(i), Total: b.Total(i)}
			a.Count, a.Docs, a.Scores = b.Hits(i)
			if err := w.add(i, &a, b.Err(i)); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		written = append(written, w)
		return nil
	})
	if err != nil && !query.Invalid(err) {
		return nil, err
	}
	return join(written), nil
}

// pieces reuses the memory of answers to some of the queries of a call.
var pieces = sync.Pool{New: func() any { return new(Answer) }}

// join joins the answers to consecutive queries, and gives their memory to pieces.
func join(written []*writer) *Answer {
	if len(written) == 1 {
		return written[0].out
	}
	slices.SortFunc(written, func(a, b *writer) int { return a.first - b.first })
	out, docs, queries, ranked := new(Answer), 0, 0, false
	for _, p := range written {
		docs, queries, ranked = docs+len(p.out.Docs), queries+len(p.out.Ends), p.q.K > 0
	}
	out.grow(queries, docs, ranked)
	for _, p := range written {
		base := uint64(len(out.Docs))
		for _, end := range p.out.Ends {
			out.Ends = append(out.Ends, base+end)
		}
		out.Docs, out.Counts, out.Names = append(out.Docs, p.out.Docs...), append(out.Counts, p.out.Counts...), append(out.Names, p.out.Names...)
		out.Totals = append(out.Totals, p.out.Totals...)
		out.Scores, out.Units, out.Errors = append(out.Scores, p.out.Scores...), append(out.Units, p.out.Units...), append(out.Errors, p.out.Errors...)
		*p.out = Answer{Counts: p.out.Counts[:0], Ends: p.out.Ends[:0], Docs: p.out.Docs[:0], Scores: p.out.Scores[:0], Units: p.out.Units[:0]}
		pieces.Put(p.out)
	}
	return out
}

// writer forms the answers to consecutive queries.
type writer struct {
	part  *Part
	q     *Queries
	names bool
	first int // query of the request
	out   *Answer
}

// newWriter returns a writer to an empty answer, for queries that have a number of documents together.
func newWriter(p *Part, q *Queries, out *Answer, queries, docs int, names bool) *writer {
	out.grow(queries, docs, q.K > 0)
	return &writer{part: p, q: q, names: names, out: out}
}

// grow makes room for the answers to further queries.
func (a *Answer) grow(queries, docs int, ranked bool) {
	a.Counts, a.Ends, a.Docs = slices.Grow(a.Counts, queries), slices.Grow(a.Ends, queries), slices.Grow(a.Docs, docs)
	if ranked {
		a.Scores, a.Units = slices.Grow(a.Scores, docs), slices.Grow(a.Units, queries)
	}
}

// within leaves out the documents of a query above the limit.
func (q *Queries) within(docs []uint32) []uint32 {
	if most := q.Limit; most > 0 && uint64(len(docs)) > most {
		return docs[:most]
	}
	return docs
}

// add appends the answer of query i of the writer, which is the next one, or its error.
func (w *writer) add(i int, a *lists.Answer, err error) error {
	if err != nil {
		w.out.Errors = append(w.out.Errors, query.Error{Query: w.first + i, Err: failure.Wrap("search", err)})
		*a = lists.Answer{Total: plan.Total{Exact: true}}
	}
	docs := w.q.within(a.Docs)
	w.out.Counts = append(w.out.Counts, a.Count)
	w.out.Docs = append(w.out.Docs, docs...)
	w.out.Ends = append(w.out.Ends, uint64(len(w.out.Docs)))
	if w.q.K > 0 {
		w.out.Scores, w.out.Units = append(w.out.Scores, a.Scores...), append(w.out.Units, a.Unit)
	}
	if w.q.Total > 0 {
		n := a.Total.Value
		if !a.Total.Exact {
			n++
		}
		w.out.Totals = append(w.out.Totals, n)
	}
	if w.names {
		w.out.Names = slices.Grow(w.out.Names, len(docs))
		for _, d := range docs {
			name, err := w.part.Name(d)
			if err != nil {
				return err
			}
			w.out.Names = append(w.out.Names, name)
		}
	}
	return nil
}

// Facets counts the documents of the only query per value of columns: a state of each column. K of the query has no
// effect.
func (p *Part) Facets(ctx context.Context, q *Queries, filters []*filter.Filter, columns []string) (matches uint64, all []*partial.State, err error) {
	if q.Len() != 1 {
		return 0, nil, invalidOption("facets", "%d queries, want one", q.Len())
	}
	if p.Attributes == nil {
		return 0, nil, &failure.Error{Code: failure.InvalidQuery, Op: "facets", Err: errNoAttributes}
	}
	r, err := p.restrict(q, filters)
	if err != nil {
		return 0, nil, err
	}
	a := facet.Ask{Query: new(query.Query), Filter: r.filters[r.number(0)], Call: q.call(), Table: p.Attributes, Columns: columns}
	r.Get(0, a.Query)
	a.Query.K = 0
	var in filter.Compiler
	defer in.Release()
	matches, err = facet.Each(ctx, p.Generation, &a, &in, func(t *tables.Generation, until *limit.Until, q *result.Query, rows []uint64) error {
		s, err := t.Part(until, q, rows, 0, 0)
		all = append(all, s)
		return err
	})
	return matches, all, err
}

func invalidOption(op, format string, args ...any) error {
	return &failure.Error{Code: failure.InvalidOption, Op: op, Err: fmt.Errorf(format, args...)}
}
