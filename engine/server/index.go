package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/observe"
	"heddle/engine/server/problem"
	"heddle/engine/syntax"
)

// indexService implements api.IndexServiceHandler.
type indexService struct{ s *Server }

// asked are the fields that all queries have.
type asked interface {
	GetQuery() string
	GetLiteral() bool
	GetTerms() []string
	GetMode() string
	GetFilter() *api.Filter
}

// expanding are the members of queries that choose fields, and the terms of prefixes and tolerant words.
type expanding interface {
	GetExpand() string
	GetPrefixLength() uint32
	GetQueryFields() string
}

// query returns the query of a request for an index, without its kind.
func (s *Server) query(ctx context.Context, index string, r asked, timeout uint32) (q engine.Query, err error) {
	about := about(ctx, index, r.GetQuery())
	q = engine.Query{Text: r.GetQuery(), Literal: r.GetLiteral(), Terms: r.GetTerms(), Caller: about.Caller, Timeout: s.timeout(timeout)}
	if q.Text != "" && len(q.Terms) > 0 {
		return q, problem.BadRequest(errors.New("query and terms exclude each other"))
	}
	if r.GetMode() != "" {
		if q.Match, err = engine.ParseMatch(r.GetMode()); err != nil {
			return q, err
		}
	}
	if e, ok := r.(expanding); ok {
		q.QueryFields = e.GetQueryFields()
		if q.Expansion, err = expansion(e); err != nil {
			return q, err
		}
	}
	if q.Filter, err = s.filter(index, r.GetFilter()); err != nil {
		return q, err
	}
	return q, s.read(ctx, index, &q)
}

// read checks the number of words of a query, and puts synonyms into its text.
func (s *Server) read(ctx context.Context, index string, q *engine.Query) error {
	if err := s.checkTerms(q.Text, len(q.Terms)); err != nil {
		return err
	}
	return s.withSynonyms(ctx, index, q)
}

// expansion returns Query.Expansion of a request.
func expansion(r expanding) (e engine.Expansion, err error) {
	switch r.GetExpand() {
	case "", "error":
	case "top":
		e.Top = true
	default:
		return e, problem.BadRequest(fmt.Errorf("expand: unknown %s (one of error, top)", syntax.Quote(r.GetExpand())))
	}
	if n := r.GetPrefixLength(); n > querylang.MaxFixed {
		return e, problem.BadRequest(fmt.Errorf("prefix_length: %d is above %d", n, querylang.MaxFixed))
	}
	e.PrefixLength = int(r.GetPrefixLength())
	return e, nil
}

// combine sets the scores of words in several fields, and of prefixes and tolerant words.
func combine(q *engine.Query, tie *float64, expand string) error {
	switch q.Tie = tie; {
	case expand != "" && expand != "sum" && expand != "best":
		return problem.BadRequest(fmt.Errorf("expand_score: unknown %s (one of sum, best)", syntax.Quote(expand)))
	case tie != nil && !(*tie >= 0 && *tie <= 1):
		return problem.BadRequest(fmt.Errorf("tie: %v is not from 0 to 1", *tie))
	}
	q.Expansion.Best = expand == "best"
	return nil
}

// checkTerms compares the number of words and terms with the limit.
func (s *Server) checkTerms(text string, terms int) error {
	if len(text)/2 >= s.limits().Terms-terms { // shorter texts have fewer words
		terms += len(strings.Fields(text))
	}
	return problem.Within("terms", terms, s.limits().Terms)
}

const (
	defaultK     = 10
	defaultLimit = 1000 // documents of a match
)

// rank makes q a ranked query. With k = 0 its answer is the total alone, which depends on scores if page sets a least one.
func (s *Server) rank(q *engine.Query, k *uint32, total *structpb.Value, weights []float64, scoring *api.Scoring, statistics *api.Statistics) (err error) {
	if q.K = min(defaultK, s.limits().K); k != nil {
		q.K = int(*k)
	}
	if q.Total, err = totalOf(total); err != nil {
		return err
	}
	if q.K == 0 {
		q.CountOnly = true
		if total == nil {
			q.Total = engine.TotalExact
		}
		if q.Match == engine.AndOr {
			q.Match = countMode(q)
		}
	} else if err := problem.Within("k", q.K, s.limits().K); err != nil {
		return err
	}
	q.Weights = weights
	if scoring != nil {
		p := bm25.Default()
		if scoring.GetVariant() != "" {
			if p.Variant, err = bm25.ParseVariant(scoring.GetVariant()); err != nil {
				return problem.BadRequest(fmt.Errorf("scoring.variant: %w", err))
			}
		}
		if scoring.K1 != nil {
			p.K1 = *scoring.K1
		}
		if scoring.B != nil {
			p.B = *scoring.B
		}
		if err := p.Validate(); err != nil {
			return problem.BadRequest(fmt.Errorf("scoring: %w", err))
		}
		q.Scoring = &p
	}
	if statistics != nil {
		if len(statistics.GetTerms()) != len(statistics.GetDf()) {
			return problem.BadRequest(fmt.Errorf("statistics: %d terms, but %d numbers df", len(statistics.GetTerms()), len(statistics.GetDf())))
		}
		q.Statistics = &engine.Statistics{Docs: statistics.GetDocs(), Length: statistics.GetLength(), Fields: api.FieldsOf(statistics.GetFields()), DF: map[string]uint64{}}
		for i, t := range statistics.GetTerms() {
			q.Statistics.DF[t] = statistics.GetDf()[i]
		}
	}
	return nil
}

// countMode is what the mode and-or means with k = 0: And finds 0 documents, and words beside operators are joined by Or.
func countMode(q *engine.Query) engine.Match {
	if !q.Literal && querylang.HasOperators(q.Text) {
		return engine.Or
	}
	return engine.And
}

// totalOf returns Query.Total of a request.
func totalOf(v *structpb.Value) (uint64, error) {
	switch kind := v.GetKind().(type) {
	case nil:
		return 0, nil
	case *structpb.Value_BoolValue:
		if kind.BoolValue {
			return engine.TotalExact, nil
		}
		return 0, nil
	case *structpb.Value_NumberValue:
		if n := kind.NumberValue; n >= 0 && n <= 1<<53 && n == math.Trunc(n) {
			return uint64(n), nil
		}
	}
	return 0, problem.BadRequest(api.ErrTotal)
}

// totalMessage is the total of an answer; nil if q does not ask for it.
func totalMessage(q *engine.Query, t engine.Total) *api.Total {
	if q.Total == 0 {
		return nil
	}
	return &api.Total{Value: t.Value, Exact: t.Exact}
}

// Search implements api.IndexServiceHandler.
func (i indexService) Search(ctx context.Context, r *api.SearchRequest) (*api.SearchResponse, error) {
	q, err := i.s.query(ctx, r.GetIndex(), r, r.GetTimeoutMs())
	if err == nil {
		err = i.s.rank(&q, r.K, r.GetTotal(), r.GetWeights(), r.GetScoring(), r.GetStatistics())
	}
	ask := api.Ask{Explain: r.GetExplain(), AllowPartial: r.GetAllowPartial()}
	if err == nil {
		err = i.s.page(&q, r.GetIndex(), r, r.GetAfter())
	}
	if err == nil {
		err = combine(&q, r.Tie, r.GetExpandScore())
	}
	if err == nil {
		q.Fields, err = i.s.fields(r.GetIndex(), r, nil)
	}
	k := q.K
	if err == nil {
		err = i.s.feedback(ctx, r, &q)
	}
	if err == nil {
		err = problem.Take(ctx, messageBytes*int64(q.K))
	}
	if err == nil {
		ask.Facets, err = i.s.facets(r)
	}
	if err != nil {
		return nil, err
	}
	out := &api.SearchResponse{}
	out.TookMs, out.QueuedMs, out.Coverage, err = i.answer(ctx, r.GetIndex(), q, ask, func(h *api.Hits) {
		if ask.Facets != nil {
			out.Facets = facetAnswer(h.Matches, h.Facets)
		}
		out.Total, out.Explanation, out.Note = totalMessage(&q, h.Total), h.Explanation, h.Note
		out.After = h.After
		out.Hits = make([]*api.Hit, 0, len(h.IDs))
		values := make([]api.Hit, len(h.IDs))
		for n, d := range h.IDs {
			if r.Like != nil && (h.Names[n] == r.Like.GetDoc() || len(out.Hits) == k) {
				continue
			}
			hit := &values[n]
			if hit.Doc, hit.Id, hit.Score = h.Names[n], d, h.Scores[n]; h.Documents != nil {
				setContents(hit, &h.Documents[n])
			}
			out.Hits = append(out.Hits, hit)
		}
	})
	if err == nil && r.GetSuggest() {
		out.Suggestions, err = i.corrections(ctx, r.GetIndex(), q)
	}
	return out, err
}

// Match implements api.IndexServiceHandler.
func (i indexService) Match(ctx context.Context, r *api.MatchRequest) (*api.MatchResponse, error) {
	q, err := i.s.query(ctx, r.GetIndex(), r, r.GetTimeoutMs())
	if err != nil {
		return nil, err
	}
	limit := min(defaultLimit, i.s.limits().Documents)
	if r.Limit != nil {
		limit = int(*r.Limit)
	}
	if err := problem.Within("documents", limit, i.s.limits().Documents); err != nil {
		return nil, err
	}
	q.CountOnly = r.GetCount() || limit == 0
	if !q.CountOnly {
		if err := problem.Take(ctx, messageBytes*int64(min(limit, matchHits))); err != nil {
			return nil, err
		}
	}
	out := &api.MatchResponse{}
	ask := api.Ask{Explain: r.GetExplain(), Limit: uint64(limit), AllowPartial: r.GetAllowPartial()}
	out.TookMs, out.QueuedMs, out.Coverage, err = i.answer(ctx, r.GetIndex(), q, ask, func(h *api.Hits) {
		out.Count, out.Explanation, out.Note = h.Count, h.Explanation, h.Note
		for n, d := range h.IDs {
			out.Documents = append(out.Documents, &api.Document{Doc: h.Names[n], Id: d})
		}
	})
	return out, err
}

// answer runs q on a snapshot, so that documents and names belong to one file. Deliver receives the
// names too.
func (i indexService) answer(ctx context.Context, name string, q engine.Query, ask api.Ask, deliver func(*api.Hits)) (took, queued float64, cover *api.Coverage, err error) {
	began := time.Now()
	if r := i.s.remoteOf(name); r != nil {
		ask.Names, ask.Take = true, taking(ctx)
		hits, cover, err := r.SearchAll(ctx, name, []engine.Query{q}, ask)
		if err == nil {
			err = hits[0].Err
		}
		if err != nil {
			return 0, 0, nil, err
		}
		deliver(&hits[0])
		return milliseconds(began), inMilliseconds(hits[0].Queued), cover, nil
	}
	snapshot, err := i.s.snapshot(name)
	if err != nil {
		return 0, 0, nil, err
	}
	defer snapshot.Close()
	q.Explain = new(observe.Explanation)
	out := &api.Hits{}
	var hits engine.Hits
	asked := q
	asked.Fields = nil // documents are read piece by piece
	if ask.Facets == nil {
		hits, err = snapshot.Search(ctx, asked)
	} else {
		hits, out.Matches, out.Facets, err = snapshot.SearchFacets(ctx, asked, *ask.Facets)
	}
	if err != nil {
		return 0, 0, nil, err
	}
	took, queued = milliseconds(began), inMilliseconds(q.Explain.Queued)
	docs := hits.Docs
	if ask.Limit > 0 {
		docs = docs[:min(ask.Limit, uint64(len(docs)))]
	}
	if err := problem.Take(ctx, 4*int64(len(hits.Docs))+messageBytes*int64(max(0, len(docs)-matchHits))); err != nil {
		return 0, 0, nil, err
	}
	out.After = hits.After
	out.Count, out.Total, out.IDs, out.Scores, out.Names = hits.Count, hits.Total, make([]uint64, len(docs)), hits.Scores, make([]string, len(docs))
	for n, d := range docs {
		out.IDs[n] = uint64(d)
		if out.Names[n], err = docName(snapshot.File(), d); err != nil {
			return 0, 0, nil, err
		}
	}
	if q.Fields != nil {
		if out.Documents, err = documents(ctx, snapshot, &q, docs); err != nil {
			return 0, 0, nil, err
		}
	}
	if ask.Explain {
		out.Explanation = q.Explain.String()
	}
	out.Note = snapshot.Note(q, hits.Count > 0)
	deliver(out)
	return took, queued, nil, nil
}

// messageBytes is the memory of a document of an answer to a single query.
const messageBytes = 192

// docName returns the name of a document as valid UTF-8.
func docName(f *hdl.File, d uint32) (string, error) {
	name, err := f.DocName(d)
	return strings.ToValidUTF8(name, "\uFFFD"), err
}

// GetStatistics implements api.IndexServiceHandler.
func (i indexService) GetStatistics(ctx context.Context, r *api.GetStatisticsRequest) (*api.Statistics, error) {
	if err := problem.Within("terms", len(r.GetTerms()), i.s.limits().Terms); err != nil {
		return nil, err
	}
	st, err := answer(i.s, r.GetIndex(),
		func(x Remote) (engine.Statistics, error) { return x.Statistics(ctx, r.GetIndex(), r.GetTerms()...) },
		func(x *engine.Snapshot) (engine.Statistics, error) { return x.Statistics(r.GetTerms()...), nil })
	if err != nil {
		return nil, err
	}
	out := &api.Statistics{Docs: st.Docs, Length: st.Length, Terms: r.GetTerms(), Df: make([]uint64, len(r.GetTerms())), Fields: api.FieldsMessage(st.Fields)}
	for n, t := range r.GetTerms() {
		out.Df[n] = st.DF[t]
	}
	return out, nil
}
