package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/query"
)

// Search answers one query on an index. Expr and Override of the query are not supported. The
// coverage is nil unless the answer may be partial.
func (c *Coordinator) Search(ctx context.Context, index string, q engine.Query, ask api.Ask) (api.Hits, *api.Coverage, error) {
	hits, cover, err := c.SearchAll(ctx, index, []engine.Query{q}, ask)
	if err == nil && hits[0].Err != nil {
		return api.Hits{}, cover, hits[0].Err
	}
	if err != nil {
		return api.Hits{}, cover, err
	}
	return hits[0], cover, nil
}

// SearchAll answers many queries from one epoch: hits[i] is the answer of query i. A query that is
// invalid in itself has Hits.Err. Caller and Timeout of the first query hold for the call.
func (c *Coordinator) SearchAll(ctx context.Context, index string, qs []engine.Query, ask api.Ask) (hits []api.Hits, cover *api.Coverage, err error) {
	if len(qs) == 0 {
		return nil, cover, nil
	}
	ctx, cancel := c.deadline(ctx, qs[0].Timeout)
	defer cancel()
	for i := range qs {
		if err := checkFilter(qs[i].Filter); err != nil {
			return nil, cover, err
		}
		if qs[i].Expr != nil || qs[i].Override != nil {
			return nil, cover, &engine.Error{Code: engine.Unsupported, Op: "search", Err: fmt.Errorf("queries[%d]: a coordinator takes texts and terms, without Expr and Override", i)}
		}
	}
	err = c.run(ctx, index, layout.Index, func(ctx context.Context, x *collection) error {
		s := &search{reach: reach{c: c, x: x, partial: ask.AllowPartial}, qs: qs, ask: ask, hits: make([]api.Hits, len(qs))}
		if err := s.run(ctx); err != nil {
			return err
		}
		if err := s.facets(ctx); err != nil {
			return err
		}
		s.notes(ctx)
		hits, cover = s.hits, s.coverage()
		return nil
	})
	return hits, cover, err
}

// deadline bounds a query that names no other time-out.
func (c *Coordinator) deadline(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout = cmp.Or(timeout, c.opt.Timeout); timeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// timeLeft returns the time until the deadline, in microseconds; 0 for none.
func timeLeft(ctx context.Context) uint64 {
	end, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return uint64(max(time.Until(end).Microseconds(), 1))
}

// search is the queries of a call on an epoch.
type search struct {
	reach
	*facts
	qs   []engine.Query
	ask  api.Ask
	hits []api.Hits
}

// notes adds the notes on queries. A query has none if no shard says how the index analyses texts.
func (s *search) notes(ctx context.Context) {
	for i := range s.qs {
		q, h := &s.qs[i], &s.hits[i]
		if q.Text == "" && (len(q.Terms) > 0 || q.Filter != nil) || h.Err != nil {
			continue
		}
		a := s.x.terms.analysis()
		if h.Count == 0 && a == nil && strings.TrimSpace(q.Text) != "" { // no statistics were needed
			again := reach{c: s.c, x: s.x}
			if _, err := again.facts(ctx, s.qs[i:i+1], func(*engine.Query) bool { return true }); err == nil {
				a = s.x.terms.analysis()
			}
		}
		h.Note = query.Note(a, q.Text, q.Literal, h.Count > 0)
	}
}

// kind is the part that all queries of a request share.
type kind struct {
	match      engine.Match
	k          int
	total      uint64 // engine.Query.Total
	count      bool
	literal    bool
	shape      shape
	scoring    bm25.Params
	scored     bool // the queries have parameters of scoring
	statistics *engine.Statistics
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
	k := kind{match: q.Match, k: q.K, total: q.Total, count: q.CountOnly, literal: q.Literal, statistics: q.Statistics}
	if own := s.of(i); q.Text == "" {
		k.shape = asLists
	} else if len(own) == 1 && own[0].plain && own[0].err == nil && len(own[0].terms) > 0 { // a filter without terms asks for all its documents
		k.shape, k.literal = asNumbers, false
	}
	if q.Scoring != nil {
		k.scoring, k.scored = *q.Scoring, true
	}
	if k.match == engine.AndOr && k.k > 0 && k.shape == asTexts && !q.Literal && querylang.HasOperators(q.Text) {
		k.match = engine.Or // as one index does
	}
	return k
}

// run answers the queries of each kind.
func (s *search) run(ctx context.Context) (err error) {
	s.facts, err = s.reach.facts(ctx, s.qs, func(q *engine.Query) bool {
		return q.Statistics == nil && (q.K > 0 || !q.Literal && strings.Contains(q.Text, "*"))
	})
	if err != nil {
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
		for i := first; i < n; i++ {
			groups[k] = append(groups[k], i)
		}
		first = n
	}
	for _, k := range kinds {
		if err := s.group(ctx, k, groups[k]); err != nil {
			return err
		}
	}
	return nil
}

// group answers the queries of a kind. For engine.AndOr it first asks all shards under AND, and asks under OR
// for the queries that have fewer than K documents in all shards together.
func (s *search) group(ctx context.Context, k kind, at []int) error {
	if k.match != engine.AndOr || k.k == 0 {
		return s.ranges(ctx, k, at)
	}
	k.match = engine.And
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
	k.match = engine.Or
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

// message returns the request for queries, without its target, and the errors of queries that are
// invalid already.
func (s *search) message(k kind, at []int) (r *api.ShardSearchRequest, wrong map[int]error) {
	r = &api.ShardSearchRequest{Literal: k.literal, Mode: k.match.String(), K: uint32(k.k), Count: k.count, Limit: s.ask.Limit, Names: s.ask.Names,
		Caller: s.qs[at[0]].Caller, Explain: s.ask.Explain}
	if k.k > 0 && s.ask.Facets == nil { // facets count the same documents
		r.Total = k.total
	}
	if k.k > 0 || k.match == engine.AndOr {
		r.Limit = 0
	}
	if k.scored {
		r.Scoring = &api.Scoring{Variant: k.scoring.Variant.String(), K1: &k.scoring.K1, B: &k.scoring.B}
	}
	if st := k.statistics; st != nil {
		r.Statistics, r.Replaced = &api.Statistics{Docs: st.Docs, Length: st.Length}, true
		for t, df := range st.DF {
			r.Statistics.Terms, r.Statistics.Df = append(r.Statistics.Terms, t), append(r.Statistics.Df, df)
		}
	} else {
		r.Statistics = &api.Statistics{Docs: s.docs, Length: s.length}
	}
	wrong = map[int]error{}
	number := map[string]uint32{}
	for n, i := range at {
		q := &s.qs[i]
		if k.k > 0 && r.Replaced && scoresPrefix(q) {
			wrong[n] = errPrefix
		}
		for _, known := range s.of(i) {
			if known.err != nil {
				wrong[n] = known.err
			}
			for j, t := range known.terms {
				if known.df[j] == 0 && k.shape != asNumbers {
					continue // no shard has it
				}
				at, ok := number[t]
				if !ok {
					at = uint32(len(number))
					number[t] = at
					r.Statistics.Terms, r.Statistics.Df = append(r.Statistics.Terms, t), append(r.Statistics.Df, known.df[j])
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
			r.Lists = append(r.Lists, &api.ShardTermList{Terms: q.Terms, Weights: q.Weights})
		case asNumbers:
			r.Ends = append(r.Ends, uint32(len(r.Numbers)))
		}
	}
	return r, wrong
}

// send answers queries by one request to each shard.
func (s *search) send(ctx context.Context, k kind, at []int) error {
	r, wrong := s.message(k, at)
	ask, late := s.ask, s.namesLast(k, len(at))
	if late {
		ask.Names, r.Names = false, false
	}
	filters := s.filters(at, wrong)
	pieces, err := spread(ctx, &s.reach, task{times: &s.x.times.searches, size: len(at), groups: s.grouped(k)}, func(ctx context.Context, n *node, shards []int) (*api.ShardSearchResponse, []int, error) {
		mine := &api.ShardSearchRequest{Target: target(s.x.layout, shards[0]), Texts: r.Texts, Lists: r.Lists, Numbers: r.Numbers, Ends: r.Ends, Literal: r.Literal, Mode: r.Mode,
			K: r.K, Count: r.Count, Limit: r.Limit, Scoring: r.Scoring, Statistics: r.Statistics, Replaced: r.Replaced, Names: r.Names, Caller: r.Caller,
			TimeoutUs: timeLeft(ctx), Explain: r.Explain, Total: r.Total}
		mine.Filters, mine.Filter = filters.of(&s.x.layout.Shards[shards[0]]), filters.numbers
		for _, i := range shards[1:] {
			mine.More = append(mine.More, &api.ShardPart{Shard: uint32(i), Filters: filters.of(&s.x.layout.Shards[i])})
		}
		a, err := n.client.ShardSearch(ctx, mine)
		if err != nil {
			return nil, nil, err
		}
		have, err := n.have(shards, a.GetShards(), mine.Target)
		if err == nil {
			err = check(a, mine.Target, s.x.layout, have, len(at), r)
		}
		return a, have, err
	})
	if err != nil {
		return err // such as a wrong option, which comes before a wrong text
	}
	for _, p := range pieces {
		for _, e := range p.answer.GetErrors() {
			if n := int(e.GetQuery()); wrong[n] == nil {
				wrong[n] = described(e.GetError())
			}
		}
	}
	m := newMerger(s.x.layout.Shards, pieces, k.k)
	for n, i := range at {
		m.query = n
		if s.hits[i] = (api.Hits{Err: wrong[n]}); wrong[n] != nil {
			continue
		}
		if k.k > 0 {
			if err := m.comparable(s.x.layout.Name); err != nil {
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
	if s.ask.Explain {
		answers := make([]*api.ShardSearchResponse, len(s.x.layout.Shards))
		for _, p := range pieces {
			answers[p.shards[0]] = p.answer
		}
		s.hits[at[0]].Explanation = explain(answers)
	}
	return nil
}

// manyNames is the number of ranked queries from which a second request for the names of their answers costs
// less than the names of all documents that some node has found.
const manyNames = 128

// namesLast reports whether names are asked for the documents of the answers alone. The answer to a partial
// call must not depend on a second request.
func (s *search) namesLast(k kind, queries int) bool {
	return s.ask.Names && (s.c.service != nil || k.k > 0 && queries >= manyNames && !s.partial)
}

// grouped reports whether one request may ask for several shards of a node. All documents of a query could
// fill a message, and an explanation is of one shard.
func (s *search) grouped(k kind) bool {
	return (k.k > 0 || k.count || s.ask.Limit > 0) && !s.ask.Explain
}

// explain joins the explanations of shards.
func explain[A interface{ GetExplanation() string }](answers []A) string {
	var b strings.Builder
	for i, a := range answers {
		if text := a.GetExplanation(); text != "" {
			fmt.Fprintf(&b, "shard %d:\n%s", i, text)
			if !strings.HasSuffix(text, "\n") {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
