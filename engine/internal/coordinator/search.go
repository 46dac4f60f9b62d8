package coordinator

import (
	"cmp"
	"context"
	"strings"

	"heddle/engine/failure"
	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/order"
	"heddle/engine/internal/part"
	"heddle/engine/internal/query"
)

// SearchAll answers many queries from one epoch: hits[i] is the answer of query i. A query that is
// invalid in itself has Hits.Err. Caller and Timeout of the first query hold for the call. The coverage is nil unless the
// answer may be partial.
func (c *Coordinator) SearchAll(ctx context.Context, index string, qs []Query, ask Ask) (hits []Hits, cover *Coverage, err error) {
	if len(qs) == 0 {
		return nil, nil, nil
	}
	ctx, cancel := c.Deadline(ctx, qs[0].Timeout)
	defer cancel()
	readAgain, exprs := false, expanding(qs)
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) error {
		s := &search{run: run{c, Reach{Collection: x, Partial: ask.AllowPartial}}, qs: qs, ask: ask, expanding: exprs, hits: make([]Hits, len(qs))}
		err := s.orders(readAgain)
		if readAgain = true; err != nil {
			return err
		}
		if err := s.answer(ctx); err != nil {
			return err
		}
		s.pages()
		if err := s.facets(ctx); err != nil {
			return err
		}
		if err := s.fetch(ctx); err != nil {
			return err
		}
		s.notes(ctx)
		hits, cover = s.hits, s.Coverage()
		return nil
	})
	return hits, cover, err
}

// Statistics returns the statistics of an index, with the document frequencies of terms.
func (c *Coordinator) Statistics(ctx context.Context, index string, terms ...string) (st bm25.Statistics, err error) {
	ctx, cancel := c.Deadline(ctx, 0)
	defer cancel()
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) error {
		f, err := (&run{c, Reach{Collection: x}}).facts(ctx, []Query{{Terms: terms}}, make([]*querylang.Expr, 1), nil)
		if err != nil {
			return err
		}
		st = bm25.Statistics{Docs: f.docs, Length: f.length, Fields: f.fields, DF: map[string]uint64{}}
		for i, t := range terms {
			st.DF[t] = f.known[i].df[0]
		}
		return nil
	})
	return st, err
}

// run is a call on an epoch.
type run struct {
	c *Coordinator
	Reach
}

// search is the queries of a call on an epoch.
type search struct {
	run
	*facts
	qs   []Query
	ask  Ask
	hits []Hits

	expanding []*querylang.Expr // by query
	order     []*order.Spec     // by query; nil: the descending score
	wrong     map[int]error     // by query: its cursor is invalid
}

// notes adds the notes on queries. A query has none if no shard says how the index analyses texts.
func (s *search) notes(ctx context.Context) {
	a := s.Collection.terms.analysis()
	for i := range s.qs {
		q, h := &s.qs[i], &s.hits[i]
		if q.Text == "" && (len(q.Terms) > 0 || q.Filter != nil) || h.Err != nil {
			continue
		}
		if h.Count == 0 && a == nil && strings.TrimSpace(q.Text) != "" { // no statistics were needed, or the index has fields
			if d, err := s.c.describe(ctx, s.Collection); err == nil {
				a, _ = analyze.New(*d.Analysis) // an error leaves the note out
			}
		}
		h.Note = query.Note(a, q.Text, q.Literal, h.Count > 0)
	}
}

// kind is the part that all queries of a request share.
type kind struct {
	match      querylang.Match
	k          int
	total      uint64 // Query.Total
	count      bool
	literal    bool
	shape      shape
	scoring    bm25.Params
	scored     bool // the queries have parameters of scoring
	statistics *bm25.Statistics
	expansion  query.Expansion
	dismax     query.Dismax
	fields     string // Query.QueryFields
	order      *order.Spec
}

// shape is the form in which queries go to shards.
type shape uint8

const (
	asTexts shape = iota
	asLists
	asNumbers // terms: the shards need not analyse the text
)

func (s *search) kindOf(i int) kind {
	q := &s.qs[i]
	k := kind{match: q.Match, k: q.K, order: s.order[i], total: q.Total, count: q.CountOnly, literal: q.Literal, statistics: q.Statistics}
	k.expansion, k.dismax, k.fields = q.Expansion, q.Dismax, q.Fields
	k.expansion.Limit = s.c.expansions()
	if own := s.of(i); q.Text == "" {
		k.shape = asLists
	} else if len(own) == 1 && own[0].plain && own[0].err == nil && len(own[0].terms) > 0 { // a filter without terms asks for all its documents
		k.shape, k.literal = asNumbers, false
	}
	if k.order != nil && k.count { // its documents have scores
		k.k, k.count = 1, false
	}
	if k.k > 0 {
		k.k += q.Offset
	}
	if q.Scoring != nil {
		k.scoring, k.scored = *q.Scoring, true
	}
	if k.match == querylang.AllElseAny && k.k > 0 && k.shape == asTexts && !q.Literal && querylang.HasOperators(q.Text) {
		k.match = querylang.AnyTerm // as one index does
	}
	return k
}

// prepare asks for the statistics and the expansions of the queries.
func (s *search) prepare(ctx context.Context) (err error) {
	s.facts, err = s.run.facts(ctx, s.qs, s.expanding, func(i int) bool {
		return s.qs[i].Statistics == nil && (s.qs[i].K > 0 || s.order[i] != nil || s.expanding[i] != nil)
	})
	if err == nil {
		s.expand()
	}
	return err
}

// answer answers the queries of each kind.
func (s *search) answer(ctx context.Context) (err error) {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	var kinds []kind
	groups := map[kind][]int{}
	for first := 0; first < len(s.qs); {
		k, n := s.kindOf(first), first+1
		for n < len(s.qs) && s.kindOf(n) == k {
			n++
		}
		if groups[k] == nil {
			kinds = append(kinds, k)
		}
		all := groups[k]
		for ; first < n; first++ {
			all = append(all, first)
		}
		groups[k] = all
	}
	for _, k := range kinds {
		if err := s.group(ctx, k, groups[k]); err != nil {
			return err
		}
	}
	return nil
}

// group answers the queries of a kind. For querylang.AllElseAny it first asks all shards under AND, and asks under OR
// for the queries that have fewer than K documents in all shards together.
func (s *search) group(ctx context.Context, k kind, at []int) error {
	if k.match != querylang.AllElseAny || k.k == 0 {
		return s.ranges(ctx, k, at)
	}
	k.match = querylang.AllTerms
	if err := s.ranges(ctx, k, at); err != nil {
		return err
	}
	var again []int
	for _, i := range at {
		if s.hits[i].Err == nil && s.hits[i].Count < uint64(k.k) {
			again = append(again, i)
		}
	}
	if again == nil {
		return nil
	}
	k.match = querylang.AnyTerm
	return s.ranges(ctx, k, again)
}

// mostBytes is the size of a request or reply, about.
const mostBytes = 512 << 10

// ranges answers queries in requests of bounded size.
func (s *search) ranges(ctx context.Context, k kind, at []int) error {
	most := k.k // documents of a reply
	if most == 0 && !k.count {
		most = int(min(s.ask.Limit, mostBytes))
	}
	for len(at) > 0 {
		n, bytes := 0, 0
		for n < len(at) && (n == 0 || bytes < mostBytes) {
			q := &s.qs[at[n]]
			bytes += 16 + 12*most + len(q.Text)*3
			if s.ask.Names {
				bytes += 24 * most
			}
			for _, t := range q.Terms {
				bytes += 3 * len(t)
			}
			bytes += filterBytes(q.Filter)
			n++
		}
		if err := s.send(ctx, k, at[:n]); err != nil {
			return err
		}
		at = at[n:]
	}
	return nil
}

// message returns the request for queries, and the errors of queries that are invalid already.
func (s *search) message(k kind, at []int) (r *part.Request, wrong map[int]error) {
	r = &part.Request{Literal: k.literal, Match: k.match, K: k.k, Count: k.count, Limit: s.ask.Limit, Names: s.ask.Names,
		Caller: s.qs[at[0]].Caller, Timeout: -1, Explain: s.ask.Explain, Expansion: k.expansion, Dismax: k.dismax, Fields: k.fields}
	if k.k > 0 && s.ask.Facets == nil { // facets count the same documents
		r.Total = k.total
	}
	if r.Order = k.order; k.order != nil {
		r.Total = k.total // facets do not know the least score
	}
	if k.k > 0 || k.match == querylang.AllElseAny {
		r.Limit = 0
	}
	if k.scored {
		r.Scoring = &k.scoring
	}
	if st := k.statistics; st != nil {
		r.Statistics = &part.Statistics{Docs: st.Docs, Length: st.Length, Fields: st.Fields, Replaced: true}
		for t, df := range st.DF {
			r.Statistics.Terms, r.Statistics.DF = append(r.Statistics.Terms, t), append(r.Statistics.DF, df)
		}
	} else {
		r.Statistics = &part.Statistics{Docs: s.docs, Length: s.length, Fields: s.fields}
	}
	wrong = map[int]error{}
	number := map[string]uint32{}
	for n, i := range at {
		q := &s.qs[i]
		if err := s.wrong[i]; err != nil {
			wrong[n] = err
		}
		if k.k > 0 && r.Statistics.Replaced && s.expanding[i] != nil && expands(s.expanding[i], true) {
			wrong[n] = errExpansion
		}
		if err, many := s.refused(i); many && wrong[n] == nil {
			wrong[n] = err
		}
		for _, known := range s.of(i) {
			for j, t := range known.terms {
				if known.df[j] == 0 && k.shape != asNumbers {
					continue // no shard has it
				}
				at, ok := number[t]
				if !ok {
					at = uint32(len(number))
					number[t] = at
					r.Statistics.Terms, r.Statistics.DF = append(r.Statistics.Terms, t), append(r.Statistics.DF, known.df[j])
				}
				if k.shape == asNumbers {
					r.Numbers = append(r.Numbers, at)
				}
			}
		}
		switch k.shape {
		case asTexts:
			r.Texts = append(r.Texts, q.Text)
		case asLists:
			r.Lists = append(r.Lists, part.List{Terms: q.Terms, Weights: q.Weights})
		case asNumbers:
			r.Ends = append(r.Ends, uint32(len(r.Numbers)))
		}
	}
	return r, wrong
}

// request sends queries to each shard. It returns the answers, and the errors of queries that are invalid. seen is
// part.Request.Seen.
func (s *search) request(ctx context.Context, k kind, at []int, seen []order.Value) (pieces []Piece[*part.Answer], wrong map[int]error, err error) {
	r, wrong := s.message(k, at)
	r.Names, r.Seen = r.Names && !s.namesLast(k, len(at)), seen
	filters := s.filters(at, r, wrong)
	pieces, err = Spread(ctx, &s.Reach, Fan{Size: len(at), Groups: s.grouped(k)}, func(ctx context.Context, f *Fan) ([]Piece[*part.Answer], []error) {
		return s.c.shards.Search(ctx, f, r, filters)
	})
	if k.order != nil && failure.OfQuery(err) { // at has one query, whose order is its own
		wrong[0], err = cmp.Or(wrong[0], err), nil
	}
	if err != nil {
		return nil, nil, err // such as a wrong option, which comes before a wrong text
	}
	for _, p := range pieces {
		for _, e := range p.Answer.Errors {
			if wrong[e.Query] == nil {
				wrong[e.Query] = e.Err
			}
		}
	}
	for n, i := range at { // shards know the place of an error in the whole text
		if wrong[n] == nil {
			wrong[n], _ = s.refused(i)
		}
	}
	return pieces, wrong, nil
}

// send answers queries by one request to each shard.
func (s *search) send(ctx context.Context, k kind, at []int) error {
	if k.order != nil && k.order.Collapse != "" {
		return s.collapse(ctx, k, at[0]) // no other query has its order
	}
	pieces, wrong, err := s.request(ctx, k, at, nil)
	if err != nil {
		return err
	}
	ask, late := s.ask, s.namesLast(k, len(at))
	ask.Names = ask.Names && !late
	m := newMerger(s.Layout.Shards, pieces, k.k)
	m.sort(k.order)
	for n, i := range at {
		m.query = n
		if s.hits[i] = (Hits{Err: wrong[n]}); wrong[n] != nil {
			continue
		}
		if k.k > 0 {
			if err := m.comparable(s.Layout.Name); err != nil {
				return err
			}
		}
		m.merge(&s.hits[i], &k, ask)
	}
	if late {
		if err := s.names(ctx, at); err != nil {
			return err
		}
	}
	s.explain(at[0], pieces)
	return nil
}

// manyNames is the number of ranked queries from which a second request for the names of their answers costs
// less than the names of all documents that some node has found.
const manyNames = 128

// namesLast reports whether names are asked for the documents of the answers alone. The answer to a partial
// call must not depend on a second request.
func (s *search) namesLast(k kind, queries int) bool {
	return s.ask.Names && (s.c.opt.Near || k.k > 0 && queries >= manyNames && !s.Partial)
}

// grouped reports whether one request may ask for several shards of a node. All documents of a query could
// fill a message, and an explanation is of one shard.
func (s *search) grouped(k kind) bool {
	return (k.k > 0 || k.count || s.ask.Limit > 0) && !s.ask.Explain && k.order == nil
}
