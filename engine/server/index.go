package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl"
	"heddle/engine/observe"
)

// indexService implements api.IndexServiceHandler.
type indexService struct{ s *Server }

// asked are the fields that all queries have.
type asked interface {
	GetQuery() string
	GetLiteral() bool
	GetTerms() []string
	GetMode() string
}

// query returns the query of a request, without its kind.
func (s *Server) query(ctx context.Context, r asked, timeout uint32) (q engine.Query, err error) {
	q = engine.Query{Text: r.GetQuery(), Literal: r.GetLiteral(), Terms: r.GetTerms(), Caller: caller(ctx), Timeout: s.timeout(timeout)}
	if q.Text != "" && len(q.Terms) > 0 {
		return q, badRequest(errors.New("query and terms exclude each other"))
	}
	if r.GetMode() != "" {
		if q.Match, err = engine.ParseMatch(r.GetMode()); err != nil {
			return q, err
		}
	}
	return q, s.checkTerms(q.Text, len(q.Terms))
}

// checkTerms compares the number of words and terms with the limit.
func (s *Server) checkTerms(text string, terms int) error {
	if len(text)/2 >= s.opt.Limits.Terms-terms { // shorter texts have fewer words
		terms += len(strings.Fields(text))
	}
	return within("terms", terms, s.opt.Limits.Terms)
}

const (
	defaultK     = 10
	defaultLimit = 1000 // documents of a match
)

// rank makes q a ranked query.
func (s *Server) rank(q *engine.Query, k uint32, weights []float64, scoring *api.Scoring, statistics *api.Statistics) (err error) {
	if q.K = int(k); k == 0 {
		q.K = min(defaultK, s.opt.Limits.K)
	}
	if err := within("k", q.K, s.opt.Limits.K); err != nil {
		return err
	}
	q.Weights = weights
	if scoring != nil {
		p := bm25.Default()
		if scoring.GetVariant() != "" {
			if p.Variant, err = bm25.ParseVariant(scoring.GetVariant()); err != nil {
				return badRequest(fmt.Errorf("scoring.variant: %w", err))
			}
		}
		if scoring.K1 != nil {
			p.K1 = *scoring.K1
		}
		if scoring.B != nil {
			p.B = *scoring.B
		}
		if err := p.Validate(); err != nil {
			return badRequest(fmt.Errorf("scoring: %w", err))
		}
		q.Scoring = &p
	}
	if statistics != nil {
		if len(statistics.GetTerms()) != len(statistics.GetDf()) {
			return badRequest(fmt.Errorf("statistics: %d terms, but %d numbers df", len(statistics.GetTerms()), len(statistics.GetDf())))
		}
		q.Statistics = &engine.Statistics{Docs: statistics.GetDocs(), Length: statistics.GetLength(), DF: map[string]uint64{}}
		for i, t := range statistics.GetTerms() {
			q.Statistics.DF[t] = statistics.GetDf()[i]
		}
	}
	return nil
}

// Search implements api.IndexServiceHandler.
func (i indexService) Search(ctx context.Context, r *api.SearchRequest) (*api.SearchResponse, error) {
	q, err := i.s.query(ctx, r, r.GetTimeoutMs())
	if err == nil {
		err = i.s.rank(&q, r.GetK(), r.GetWeights(), r.GetScoring(), r.GetStatistics())
	}
	if err != nil {
		return nil, err
	}
	out := &api.SearchResponse{}
	out.TookMs, out.Explanation, err = i.answer(ctx, r.GetIndex(), q, r.GetExplain(), func(f *hdl.File, h engine.Hits) {
		out.Count = h.Count
		out.Hits = make([]*api.Hit, len(h.Docs))
		values := make([]api.Hit, len(h.Docs))
		for n, d := range h.Docs {
			hit := &values[n]
			hit.Doc, hit.Id, hit.Score = docName(f, d), uint64(d), h.Scores[n]
			out.Hits[n] = hit
		}
	})
	return out, err
}

// Match implements api.IndexServiceHandler.
func (i indexService) Match(ctx context.Context, r *api.MatchRequest) (*api.MatchResponse, error) {
	q, err := i.s.query(ctx, r, r.GetTimeoutMs())
	if err != nil {
		return nil, err
	}
	limit := int(r.GetLimit())
	if limit == 0 {
		limit = min(defaultLimit, i.s.opt.Limits.Documents)
	}
	if err := within("documents", limit, i.s.opt.Limits.Documents); err != nil {
		return nil, err
	}
	q.CountOnly = r.GetCount()
	out := &api.MatchResponse{}
	out.TookMs, out.Explanation, err = i.answer(ctx, r.GetIndex(), q, r.GetExplain(), func(f *hdl.File, h engine.Hits) {
		out.Count = h.Count
		for _, d := range h.Docs[:min(limit, len(h.Docs))] {
			out.Documents = append(out.Documents, &api.Document{Doc: docName(f, d), Id: uint64(d)})
		}
	})
	return out, err
}

// answer runs q on a snapshot, so that documents and names belong to one file.
func (i indexService) answer(ctx context.Context, name string, q engine.Query, explain bool, deliver func(*hdl.File, engine.Hits)) (took float64, why string, err error) {
	defer mapped.Catch(mapped.Watch(), &err) // deliver reads names
	began := time.Now()
	snapshot, err := i.s.snapshot(name)
	if err != nil {
		return 0, "", err
	}
	defer snapshot.Close()
	if explain {
		q.Explain = new(observe.Explanation)
	}
	hits, err := snapshot.Search(ctx, q)
	if err != nil {
		return 0, "", err
	}
	took = milliseconds(began)
	deliver(snapshot.File(), hits)
	if explain {
		why = q.Explain.String()
	}
	return took, why, nil
}

// docName returns the name of a document as valid UTF-8.
func docName(f *hdl.File, d uint32) string { return strings.ToValidUTF8(f.DocName(d), "\uFFFD") }

// GetStatistics implements api.IndexServiceHandler.
func (i indexService) GetStatistics(_ context.Context, r *api.GetStatisticsRequest) (*api.Statistics, error) {
	if err := within("terms", len(r.GetTerms()), i.s.opt.Limits.Terms); err != nil {
		return nil, err
	}
	x, err := i.s.index(r.GetIndex())
	if err != nil {
		return nil, err
	}
	st, err := x.Statistics(r.GetTerms()...)
	if err != nil {
		return nil, err
	}
	out := &api.Statistics{Docs: st.Docs, Length: st.Length, Terms: r.GetTerms(), Df: make([]uint64, len(r.GetTerms()))}
	for n, t := range r.GetTerms() {
		out.Df[n] = st.DF[t]
	}
	return out, nil
}

// ListIndexes implements api.IndexServiceHandler.
func (i indexService) ListIndexes(context.Context, *api.ListIndexesRequest) (*api.ListIndexesResponse, error) {
	out := &api.ListIndexesResponse{}
	for _, name := range slices.Sorted(maps.Keys(i.s.indexes)) {
		one, err := i.describe(name)
		if err != nil {
			return nil, err
		}
		out.Indexes = append(out.Indexes, one)
	}
	return out, nil
}

// GetIndex implements api.IndexServiceHandler.
func (i indexService) GetIndex(_ context.Context, r *api.GetIndexRequest) (*api.Index, error) {
	return i.describe(r.GetIndex())
}

func (i indexService) describe(name string) (*api.Index, error) {
	served, x, err := find(i.s.indexes, "index", name)
	if served == nil {
		return nil, err
	}
	out := &api.Index{Name: name}
	if err != nil { // not loaded yet
		return out, nil
	}
	info, err := x.Info()
	if err != nil {
		return nil, err
	}
	out.Ready, out.Docs, out.Lists, out.Checksum = true, uint64(info.Docs), uint64(info.Lists), hex(served.checksum.Load())
	out.Resident = residents(info.Resident)
	return out, nil
}

func residents(all []engine.Resident) (out []*api.Resident) {
	for _, r := range all {
		out = append(out, &api.Resident{Processor: r.Processor, Reserve: r.Reserve, Bytes: r.Bytes, Reason: r.Reason})
	}
	return out
}
