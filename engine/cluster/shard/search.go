package shard

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	invalid "heddle/engine/internal/query"
	"heddle/engine/observe"
)

// ShardSearch implements api.ShardServiceHandler.
func (h handler) ShardSearch(ctx context.Context, r *api.ShardSearchRequest) (*api.ShardSearchResponse, error) {
	if len(r.GetMore()) > 0 {
		return h.searchGroup(ctx, r)
	}
	return use(h, r.GetTarget(), func(x *pinned) (*api.ShardSearchResponse, error) {
		all, err := queries(r)
		if err != nil {
			return nil, err
		}
		return x.search(ctx, r, r.GetFilters(), all, r.GetNames())
	})
}

// found is the answer of a shard of a group, without names.
type found struct {
	shard  *pinned
	answer *api.ShardSearchResponse
}

// searchGroup answers for several shards. It leaves out a shard whose scores have another unit
// than the scores of the first shard, like a shard that fails.
func (h handler) searchGroup(ctx context.Context, r *api.ShardSearchRequest) (out *api.ShardSearchResponse, err error) {
	defer reply(&err)
	numbers, filters := make([]uint32, len(r.More)), map[uint32][]*api.Filter{r.GetTarget().GetShard(): r.GetFilters()}
	for i, part := range r.More {
		numbers[i], filters[part.GetShard()] = part.GetShard(), part.GetFilters()
	}
	targets, err := group(r.GetTarget(), numbers)
	if err != nil {
		return nil, err
	}
	all, err := queries(r)
	if err != nil {
		return nil, err
	}
	pins := make([]*pinned, len(targets))
	defer func() {
		for _, p := range pins {
			if p != nil {
				p.end()
			}
		}
	}()
	have, parts, err := together(targets, func(i int, t *api.ShardTarget) (f found, err error) {
		err = mapped.Run(func() (err error) {
			if pins[i], err = h.index(t); err == nil {
				f.shard = pins[i]
				f.answer, err = f.shard.search(ctx, r, filters[t.GetShard()], all, false)
			}
			return err
		})
		return f, err
	})
	if err != nil {
		return nil, err
	}
	var answers []*api.ShardSearchResponse
	var shards []*pinned
	out = &api.ShardSearchResponse{}
	for i, f := range parts {
		if slices.Equal(f.answer.Units, parts[0].answer.Units) {
			answers, shards, out.Shards = append(answers, f.answer), append(shards, f.shard), append(out.Shards, have[i])
		}
	}
	merge(r, answers, out)
	if r.GetNames() {
		out.Names = make([]string, len(out.Docs))
		for i, doc := range out.Docs {
			if out.Names[i], err = shards[out.Places[i]].name(doc); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// merge joins the answers of shards in ascending order.
func merge(r *api.ShardSearchRequest, answers []*api.ShardSearchResponse, out *api.ShardSearchResponse) {
	queries := len(answers[0].Ends)
	out.Epoch, out.Units = r.GetTarget().GetEpoch(), answers[0].Units
	out.Counts, out.Ends = make([]uint64, queries), make([]uint64, queries)
	if r.GetTotal() > 0 {
		out.Totals = make([]uint64, queries)
	}
	wrong := map[uint32]bool{}
	docs := 0
	for _, a := range answers {
		docs += len(a.Docs)
		out.QueuedUs = max(out.QueuedUs, a.QueuedUs)
		for i, n := range a.Counts {
			out.Counts[i] += n
		}
		for i, n := range a.Totals {
			out.Totals[i] += n
		}
		for _, e := range a.Errors {
			if !wrong[e.GetQuery()] {
				wrong[e.GetQuery()] = true
				out.Errors = append(out.Errors, e)
			}
		}
	}
	most := uint64(docs)
	if r.GetK() > 0 {
		most = uint64(r.GetK())
		docs = min(docs, queries*int(r.GetK()))
		out.Scores = make([]float64, 0, docs)
	} else if r.GetLimit() > 0 {
		most = r.GetLimit()
	}
	out.Docs, out.Places = make([]uint32, 0, docs), make([]uint32, 0, docs)
	m := NewMerger(answers, func(answer int, at uint64) uint64 { return uint64(answer)<<32 | uint64(answers[answer].Docs[at]) })
	for n := range queries {
		for range min(m.Query(n), most) {
			answer, _, number, score := m.Next()
			out.Docs, out.Places = append(out.Docs, uint32(number)), append(out.Places, uint32(answer))
			if r.GetK() > 0 {
				out.Scores = append(out.Scores, score)
			}
		}
		out.Ends[n] = uint64(len(out.Docs))
	}
}

// search answers queries, which all shards of a group share, with the filters of this one.
func (p *pinned) search(ctx context.Context, r *api.ShardSearchRequest, filters []*api.Filter, all []engine.Query, names bool) (*api.ShardSearchResponse, error) {
	all, err := p.restrict(all, filters, r.GetFilter())
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return answers(ctx, p, r, all, names)
	}
	w := newWriter(p, r, 1, names)
	var e observe.Explanation
	q := all[0]
	q.Explain = &e
	hits, err := p.Search(ctx, q)
	if hits.Err = err; err != nil && !invalid.Invalid(err) {
		return nil, err
	}
	if err := w.add(0, hits); err != nil {
		return nil, err
	}
	w.out.Epoch, w.out.QueuedUs = r.GetTarget().GetEpoch(), uint64(e.Queued.Microseconds())
	if r.GetExplain() {
		w.out.Explanation = e.String()
	}
	return w.out, nil
}

// queries returns the queries of a request.
func queries(r *api.ShardSearchRequest) ([]engine.Query, error) {
	common, err := query(r)
	if err != nil {
		return nil, err
	}
	all := make([]engine.Query, 0, len(r.GetTexts())+len(r.GetLists())+len(r.GetEnds()))
	for _, text := range r.GetTexts() {
		common.Text = text
		all = append(all, common)
	}
	common.Text = ""
	for _, l := range r.GetLists() {
		common.Terms, common.Weights = l.GetTerms(), l.GetWeights()
		all = append(all, common)
	}
	common.Weights = nil
	known, terms := r.GetStatistics().GetTerms(), make([]string, len(r.GetNumbers()))
	for i, n := range r.GetNumbers() {
		if uint64(n) >= uint64(len(known)) {
			return nil, &engine.Error{Code: engine.InvalidOption, Op: "search", Err: fmt.Errorf("numbers[%d] is %d: statistics has %d terms", i, n, len(known))}
		}
		terms[i] = known[n]
	}
	start := uint32(0)
	for i, end := range r.GetEnds() {
		if end < start || uint64(end) > uint64(len(terms)) {
			return nil, &engine.Error{Code: engine.InvalidOption, Op: "search", Err: fmt.Errorf("ends[%d] is %d: want %d to %d", i, end, start, len(terms))}
		}
		common.Terms, start = terms[start:end:end], end
		all = append(all, common)
	}
	return all, nil
}

// answers answers many queries.
func answers(ctx context.Context, x *pinned, r *api.ShardSearchRequest, all []engine.Query, names bool) (*api.ShardSearchResponse, error) {
	var mu sync.Mutex
	var pieces []*writer
	err := x.SearchAll(ctx, all, func(first int, hits []engine.Hits) error {
		docs := 0
		for _, h := range hits {
			docs += len(h.Docs)
		}
		w := newWriter(x, r, len(hits), names)
		w.first = first
		if w.out.Docs = make([]uint32, 0, docs); r.GetK() > 0 {
			w.out.Scores = make([]float64, 0, docs)
		}
		for i, h := range hits {
			if err := w.add(i, h); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		pieces = append(pieces, w)
		return nil
	})
	if err != nil && !invalid.Invalid(err) {
		return nil, err
	}
	return join(r, pieces), nil
}

// join joins the answers to consecutive queries.
func join(r *api.ShardSearchRequest, pieces []*writer) *api.ShardSearchResponse {
	slices.SortFunc(pieces, func(a, b *writer) int { return a.first - b.first })
	out := &api.ShardSearchResponse{}
	if len(pieces) > 0 {
		out, pieces = pieces[0].out, pieces[1:]
	}
	out.Epoch = r.GetTarget().GetEpoch()
	docs, queries := 0, 0
	for _, p := range pieces {
		docs, queries = docs+len(p.out.Docs), queries+len(p.out.Ends)
	}
	out.Docs, out.Ends, out.Counts = slices.Grow(out.Docs, docs), slices.Grow(out.Ends, queries), slices.Grow(out.Counts, queries)
	if r.GetK() > 0 {
		out.Scores, out.Units = slices.Grow(out.Scores, docs), slices.Grow(out.Units, queries)
	}
	for _, p := range pieces {
		base := uint64(len(out.Docs))
		for _, end := range p.out.Ends {
			out.Ends = append(out.Ends, base+end)
		}
		out.Docs, out.Counts, out.Names = append(out.Docs, p.out.Docs...), append(out.Counts, p.out.Counts...), append(out.Names, p.out.Names...)
		out.Totals = append(out.Totals, p.out.Totals...)
		out.Scores, out.Units, out.Errors = append(out.Scores, p.out.Scores...), append(out.Units, p.out.Units...), append(out.Errors, p.out.Errors...)
	}
	return out
}

// writer forms the answers to consecutive queries.
type writer struct {
	shard   *pinned
	request *api.ShardSearchRequest
	names   bool
	first   int // query of the request
	out     *api.ShardSearchResponse
}

func newWriter(x *pinned, r *api.ShardSearchRequest, queries int, names bool) *writer {
	w := &writer{shard: x, request: r, names: names, out: &api.ShardSearchResponse{Counts: make([]uint64, 0, queries), Ends: make([]uint64, 0, queries)}}
	if r.GetK() > 0 {
		w.out.Units = make([]float64, 0, queries)
	}
	return w
}

// add appends the answer of query i of the writer, which is the next one.
func (w *writer) add(i int, h engine.Hits) error {
	if h.Err != nil {
		w.out.Errors = append(w.out.Errors, &api.BatchError{Query: uint32(w.first + i), Error: api.ErrorOf(h.Err)})
		h.Total = engine.Total{Exact: true}
	}
	docs := h.Docs
	if most := w.request.GetLimit(); most > 0 && uint64(len(docs)) > most {
		docs = docs[:most]
	}
	w.out.Counts = append(w.out.Counts, h.Count)
	w.out.Docs = append(w.out.Docs, docs...)
	w.out.Ends = append(w.out.Ends, uint64(len(w.out.Docs)))
	if w.request.GetK() > 0 {
		w.out.Scores, w.out.Units = append(w.out.Scores, h.Scores...), append(w.out.Units, h.Unit)
	}
	if w.request.GetTotal() > 0 {
		n := h.Total.Value
		if !h.Total.Exact {
			n++
		}
		w.out.Totals = append(w.out.Totals, n)
	}
	if w.names {
		w.out.Names = slices.Grow(w.out.Names, len(docs))
		for _, d := range docs {
			name, err := w.shard.name(d)
			if err != nil {
				return err
			}
			w.out.Names = append(w.out.Names, name)
		}
	}
	return nil
}

// query returns the query that all queries of a request share.
func query(r *api.ShardSearchRequest) (q engine.Query, err error) {
	q = engine.Query{Literal: r.GetLiteral(), K: int(r.GetK()), Total: r.GetTotal(), CountOnly: r.GetCount(), Caller: r.GetCaller(), Timeout: left(r.GetTimeoutUs())}
	if q.Match, err = engine.ParseMatch(r.GetMode()); err != nil {
		return q, err
	}
	if s := r.GetScoring(); s != nil {
		p := bm25.Params{K1: s.GetK1(), B: s.GetB()}
		if p.Variant, err = bm25.ParseVariant(s.GetVariant()); err != nil {
			return q, &engine.Error{Code: engine.InvalidOption, Op: "search", Err: err}
		}
		q.Scoring = &p
	}
	if s := r.GetStatistics(); s != nil {
		if len(s.GetTerms()) != len(s.GetDf()) {
			return q, &engine.Error{Code: engine.InvalidOption, Op: "search", Err: fmt.Errorf("statistics: %d terms, but %d numbers df", len(s.GetTerms()), len(s.GetDf()))}
		}
		q.Statistics = &engine.Statistics{Docs: s.GetDocs(), Length: s.GetLength(), Shard: !r.GetReplaced(), DF: make(map[string]uint64, len(s.GetTerms()))}
		for i, t := range s.GetTerms() {
			q.Statistics.DF[t] = s.GetDf()[i]
		}
	}
	return q, nil
}

// left returns the time-out of a request.
func left(us uint64) time.Duration {
	if us == 0 {
		return -1
	}
	return time.Duration(us) * time.Microsecond
}
