// Package shard serves the shards of a node: the handler of api.ShardService over indexes and
// tables of package engine.
package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	invalid "heddle/engine/internal/query"
	"heddle/engine/observe"
)

// Shards finds the shards that a node holds. Release ends the use of a shard. An epoch or shard
// that the node does not hold is an error that wraps ErrEpoch.
type Shards interface {
	OpenIndex(name string, epoch uint64, shard int) (x *Index, release func(), err error)
	OpenTable(name string, epoch uint64, shard int) (t *engine.Table, release func(), err error)
}

// Index is a shard of an index.
type Index struct {
	*engine.Index
	Live       *Live         // nil: no document is deleted
	Attributes *engine.Table // of the documents; nil: they have none
}

// Live describes the documents of a shard that are not deleted. Queries find no other documents, and
// the statistics leave the others out.
type Live struct {
	Filter       *engine.Filter
	Docs, Length uint64 // number of documents, and sum of their lengths
}

// EpochCode is the code of api.Error for ErrEpoch.
const EpochCode = "epoch"

// ErrEpoch is the error of a request for an epoch or shard that a node does not hold.
var ErrEpoch = errors.New("the node does not hold this epoch and shard")

// Register adds the service to a server.
func Register(s *connect.Server, shards Shards) { api.RegisterShardServiceHandler(s, handler{shards}) }

// Service returns the service for calls in this process.
func Service(shards Shards) api.ShardServiceClient { return handler{shards} }

// handler implements api.ShardServiceHandler.
type handler struct{ shards Shards }

func missing(t *api.ShardTarget) error {
	return fmt.Errorf("shard %d of %s, epoch %d: %w", t.GetShard(), t.GetCollection(), t.GetEpoch(), ErrEpoch)
}

// pinned is the content of a shard during a request.
type pinned struct {
	*engine.Snapshot
	live       *Live
	attributes *engine.Table
	release    func()
}

// end ends the use.
func (p *pinned) end() {
	p.Close()
	p.release()
}

// index pins the content of a shard for a request.
func (h handler) index(t *api.ShardTarget) (*pinned, error) {
	index, release, err := h.shards.OpenIndex(t.GetCollection(), t.GetEpoch(), int(t.GetShard()))
	if err != nil {
		return nil, err
	}
	x, err := index.Snapshot()
	if err != nil {
		release()
		return nil, err
	}
	return &pinned{x, index.Live, index.Attributes, release}, nil
}

// statistics returns the statistics of the documents that are not deleted.
func (p *pinned) statistics(ctx context.Context, terms []string) (engine.Statistics, error) {
	s := p.Statistics(terms...)
	if p.live == nil {
		return s, nil
	}
	s.Docs, s.Length = p.live.Docs, p.live.Length
	var present []string
	var counts []engine.Query
	for _, t := range terms {
		if s.DF[t] > 0 {
			present, counts = append(present, t), append(counts, engine.Query{Terms: []string{t}, CountOnly: true, Filter: p.live.Filter})
		}
	}
	found := make([]uint64, len(present))
	err := p.SearchAll(ctx, counts, func(first int, hits []engine.Hits) error {
		for i, h := range hits {
			found[first+i] = h.Count
		}
		return nil
	})
	for i, t := range present {
		s.DF[t] = found[i]
	}
	return s, err
}

// ShardTerms implements api.ShardServiceHandler.
func (h handler) ShardTerms(ctx context.Context, r *api.ShardTermsRequest) (out *api.ShardTermsResponse, err error) {
	defer reply(&err)
	defer mapped.Catch(mapped.Watch(), &err)
	x, err := h.index(r.GetTarget())
	if err != nil {
		return nil, err
	}
	defer x.end()
	out = &api.ShardTermsResponse{}
	numbers := map[string]uint32{}
	number := func(term string) uint32 {
		n, ok := numbers[term]
		if !ok {
			n = uint32(len(out.Terms))
			numbers[term] = n
			out.Terms = append(out.Terms, term)
		}
		return n
	}
	for i, text := range r.GetTexts() {
		terms, _, err := x.WeightedTerms(engine.Query{Text: text, Literal: r.GetLiteral(), K: 1})
		switch code := engine.CodeOf(err); {
		case code == engine.InvalidQuery || code == engine.Unsupported:
			wrong := api.ErrorOf(&engine.Error{Code: code, Op: "search", Err: cause(err)})
			out.Errors = append(out.Errors, &api.BatchError{Query: uint32(i), Error: wrong})
		case err != nil:
			return nil, err
		}
		for _, t := range terms {
			out.Numbers = append(out.Numbers, number(t))
		}
		out.Ends = append(out.Ends, uint32(len(out.Numbers)))
	}
	for _, t := range r.GetTerms() {
		number(t)
	}
	if r.GetAnalysis() {
		s := x.File().Meta().Analysis
		out.Analysis = &api.Analysis{Tokens: s.Tokens, Fold: s.Fold, Stemmer: s.Stemmer, StopWords: s.StopWords}
	}
	s, err := x.statistics(ctx, out.Terms)
	if err != nil {
		return nil, err
	}
	out.Docs, out.Length, out.Df = s.Docs, s.Length, make([]uint64, len(out.Terms))
	for i, t := range out.Terms {
		out.Df[i] = s.DF[t]
	}
	return out, nil
}

// cause returns the error inside of an engine.Error.
func cause(err error) error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e.Err
	}
	return err
}

// query returns the query that all queries of a request share.
func query(r *api.ShardSearchRequest) (q engine.Query, err error) {
	q = engine.Query{Literal: r.GetLiteral(), K: int(r.GetK()), CountOnly: r.GetCount(), Caller: r.GetCaller(), Timeout: left(r.GetTimeoutUs())}
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

// ShardSearch implements api.ShardServiceHandler.
func (h handler) ShardSearch(ctx context.Context, r *api.ShardSearchRequest) (out *api.ShardSearchResponse, err error) {
	defer reply(&err)
	defer mapped.Catch(mapped.Watch(), &err)
	x, err := h.index(r.GetTarget())
	if err != nil {
		return nil, err
	}
	defer x.end()
	all, err := queries(r)
	if err != nil {
		return nil, err
	}
	if err := x.restrict(all, r); err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return answers(ctx, x.Snapshot, r, all)
	}
	w := newWriter(x.Snapshot, r, 1)
	var e observe.Explanation
	all[0].Explain = &e
	hits, err := x.Search(ctx, all[0])
	if hits.Err = err; err != nil && !invalid.Invalid(err) {
		return nil, err
	}
	w.add(0, hits)
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
func answers(ctx context.Context, x *engine.Snapshot, r *api.ShardSearchRequest, all []engine.Query) (*api.ShardSearchResponse, error) {
	var mu sync.Mutex
	var pieces []*writer
	err := x.SearchAll(ctx, all, func(first int, hits []engine.Hits) error {
		docs := 0
		for _, h := range hits {
			docs += len(h.Docs)
		}
		w := newWriter(x, r, len(hits))
		w.first = first
		if w.out.Docs = make([]uint32, 0, docs); r.GetK() > 0 {
			w.out.Scores = make([]float64, 0, docs)
		}
		for i, h := range hits {
			w.add(i, h)
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
		out.Scores, out.Units, out.Errors = append(out.Scores, p.out.Scores...), append(out.Units, p.out.Units...), append(out.Errors, p.out.Errors...)
	}
	return out
}

// writer forms the answers to consecutive queries.
type writer struct {
	file    *engine.Snapshot
	request *api.ShardSearchRequest
	first   int // query of the request
	out     *api.ShardSearchResponse
}

func newWriter(x *engine.Snapshot, r *api.ShardSearchRequest, queries int) *writer {
	w := &writer{file: x, request: r, out: &api.ShardSearchResponse{Counts: make([]uint64, 0, queries), Ends: make([]uint64, 0, queries)}}
	if r.GetK() > 0 {
		w.out.Units = make([]float64, 0, queries)
	}
	return w
}

// add appends the answer of query i of the writer, which is the next one.
func (w *writer) add(i int, h engine.Hits) {
	if h.Err != nil {
		w.out.Errors = append(w.out.Errors, &api.BatchError{Query: uint32(w.first + i), Error: api.ErrorOf(h.Err)})
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
	if w.request.GetNames() {
		w.out.Names = slices.Grow(w.out.Names, len(docs))
		for _, d := range docs {
			w.out.Names = append(w.out.Names, strings.ToValidUTF8(w.file.File().DocName(d), "\uFFFD"))
		}
	}
}

// ShardDocuments implements api.ShardServiceHandler.
func (h handler) ShardDocuments(_ context.Context, r *api.ShardDocumentsRequest) (out *api.ShardDocumentsResponse, err error) {
	defer reply(&err)
	defer mapped.Catch(mapped.Watch(), &err)
	x, err := h.index(r.GetTarget())
	if err != nil {
		return nil, err
	}
	defer x.end()
	out = &api.ShardDocumentsResponse{}
	docs := x.Info().Docs
	for i, d := range r.GetDocs() {
		if d >= docs {
			return nil, &engine.Error{Code: engine.InvalidOption, Op: "documents", Err: fmt.Errorf("docs[%d] is %d: the shard has %d documents", i, d, docs)}
		}
		out.Names = append(out.Names, strings.ToValidUTF8(x.File().DocName(d), "\uFFFD"))
	}
	return out, nil
}
