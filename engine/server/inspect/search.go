package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build/records"
	"heddle/engine/index/querylang"
	"heddle/engine/index/snippet"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

const (
	defaultHits   = 10
	mostLists     = 1000 // greatest number of lists in an explanation: a prefix may have many terms
	mostCharacter = 4000 // greatest length of an expression, in bytes
	snippetWidth  = 320  // bytes
)

// ParseQuery implements api.InspectServiceHandler.
func (s *Service) ParseQuery(ctx context.Context, r *api.ParseQueryRequest) (out *api.ParseQueryResponse, err error) {
	q, err := s.Query(ctx, parsed{r}, 0)
	if err != nil {
		return nil, err
	}
	if err := wellFormed(q); err != nil { // also for an index in a cluster or a collection
		return nil, err
	}
	x, err := s.snapshot(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer x.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	l, err := listsOf(x, q)
	if err != nil {
		return nil, err
	}
	return &api.ParseQueryResponse{Lists: l.lists, Unknown: l.unknown, Expression: l.expression}, nil
}

// wellFormed checks the syntax of a query, which needs no index.
func wellFormed(q engine.Query) error {
	join := querylang.Or
	if q.Match == engine.And {
		join = querylang.And
	}
	if _, err := querylang.Parse(q.Text, join); err != nil && !q.Literal {
		return &engine.Error{Code: engine.InvalidQuery, Op: "parse", Err: err}
	}
	return nil
}

// parsed is a request whose query is a text.
type parsed struct{ *api.ParseQueryRequest }

func (parsed) GetTerms() []string { return nil }

func (parsed) GetFilter() *api.Filter { return nil }

// InspectSearch implements api.InspectServiceHandler.
func (s *Service) InspectSearch(ctx context.Context, r *api.InspectSearchRequest) (out *api.InspectSearchResponse, err error) {
	q, err := s.query(ctx, r)
	if err != nil {
		return nil, err
	}
	x, err := s.snapshot(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer x.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	q.Explain = new(observe.Explanation)
	facets, err := s.Facets(r)
	if err != nil {
		return nil, err
	}
	var hits engine.Hits
	var counted *api.FacetAnswer
	if facets == nil {
		hits, err = x.Search(ctx, q)
	} else {
		var matches uint64
		var all []engine.Facet
		hits, matches, all, err = x.SearchFacets(ctx, q, *facets)
		counted = s.FacetAnswer(matches, all)
	}
	if err != nil {
		return nil, err
	}
	l, err := listsOf(x, q)
	if err != nil {
		return nil, err
	}
	out = &api.InspectSearchResponse{Facets: counted, Count: hits.Count, Lists: l.lists, Unknown: l.unknown, Expression: l.expression, Way: wayOf(q.Explain)}
	if q.K == 0 {
		limit := cmp.Or(int(r.GetLimit()), defaultHits)
		hits.Docs = hits.Docs[:min(limit, len(hits.Docs))]
		out.Algorithm = x.ExplainQuery(q.Explain.Processor, q)
		l.explain(x, q.Explain.Processor)
	}
	out.Hits, err = texts(x, hits, l.terms)
	return out, err
}

// query returns the query of a request.
func (s *Service) query(ctx context.Context, r *api.InspectSearchRequest) (q engine.Query, err error) {
	if r.GetLimit() > 1000 {
		return q, badRequest("limit %d: want at most 1000", r.GetLimit())
	}
	if q, err = s.Query(ctx, r, r.GetTimeoutMs()); err != nil {
		return q, err
	}
	if r.GetK() > 0 {
		if err := s.Rank(&q, r.GetK(), r.GetScoring()); err != nil {
			return q, err
		}
	} else if r.GetScoring() != nil {
		return q, badRequest("scoring needs k, the number of documents of a ranked query")
	}
	q.Fresh = r.GetFresh()
	q.Override = &engine.Override{Processor: r.GetProcessor()}
	if name := r.GetAlgorithm(); name != "" {
		if q.Override.Algorithm, err = plan.ParseAlgorithm(name); err != nil {
			return q, badRequest("algorithm: %w", err)
		}
	}
	return q, nil
}

// queryLists are the posting lists of a query.
type queryLists struct {
	lists       []*api.PostingList
	handles     []plan.Handle // handles of the lists
	terms       []string      // terms that add to scores and are marked in texts
	unknown     []string
	expression  string
	conjunction bool
}

// listsOf returns the posting lists of a query, the shortest first.
func listsOf(x *engine.Snapshot, q engine.Query) (*queryLists, error) {
	q.Override, q.Explain = nil, nil
	terms, weights, err := x.WeightedTerms(q)
	if err != nil {
		return nil, err
	}
	e, not, err := x.Expression(q)
	if err != nil {
		return nil, err
	}
	l := &queryLists{terms: terms}
	sum := map[plan.Handle]float64{}
	for h := range e.Lists {
		sum[h] = 0
	}
	for i, t := range terms {
		if h, ok := x.File().Lookup(t); ok {
			sum[h] += weights[i]
		} else {
			l.unknown = append(l.unknown, valid(t))
		}
	}
	for h := range sum {
		l.handles = append(l.handles, h)
	}
	src := x.Source()
	slices.SortFunc(l.handles, func(a, b plan.Handle) int {
		return cmp.Or(cmp.Compare(src.Lists[a].Len, src.Lists[b].Len), cmp.Compare(a, b))
	})
	l.handles = l.handles[:min(mostLists, len(l.handles))]
	for _, h := range l.handles {
		p := postingList(x, h)
		if q.K > 0 {
			p.Weight = weightOf(x, q, h, sum[h])
		}
		l.lists = append(l.lists, p)
	}
	slices.Sort(l.unknown)
	l.unknown = slices.Compact(l.unknown)
	_, l.conjunction = e.Conjunction(nil)
	l.conjunction = l.conjunction && !not
	if q.Text != "" {
		l.expression = valid(cut(x.Readable(e, not).String(), mostCharacter))
	}
	return l, nil
}

func postingList(x *engine.Snapshot, h plan.Handle) *api.PostingList {
	l := x.Source().Lists[h]
	return &api.PostingList{Term: valid(x.File().Term(h)), Documents: uint64(l.Len), Codec: l.Codec.String(), Bytes: 4 * uint64(l.Words)}
}

// weightOf returns the greatest part of a score that a term adds.
func weightOf(x *engine.Snapshot, q engine.Query, h plan.Handle, weight float64) float64 {
	if x.File().Meta().Impacts.Bits > 0 {
		return weight
	}
	p := bm25.Default()
	if q.Scoring != nil {
		p = *q.Scoring
	}
	return weight * p.Weight(x.Statistics().Docs, uint64(x.Source().Lists[h].Len))
}

// explain adds the method by which the processor searches each list of a conjunction.
func (l *queryLists) explain(x *engine.Snapshot, processor string) {
	if !l.conjunction || processor == "" { // an answer from the cache has no processor
		return
	}
	for i, h := range l.handles {
		if l.lists[i].Method = "its documents are looked up in the other lists"; i > 0 {
			l.lists[i].Method = x.ExplainList(processor, plan.Auto, h)
		}
	}
}

// texts returns the documents of an answer with the best part of each stored text.
func texts(x *engine.Snapshot, hits engine.Hits, terms []string) (out []*api.InspectedHit, err error) {
	f := x.File()
	var find *snippet.Finder
	if f.HasDocuments() {
		a, err := f.Analyzer()
		if err != nil {
			return nil, err
		}
		find = snippet.New(a.Documents(), terms, snippetWidth)
	}
	for i, d := range hits.Docs {
		name, err := f.DocName(d)
		if err != nil {
			return nil, err
		}
		hit := &api.InspectedHit{Doc: valid(name), Id: uint64(d)}
		if hits.Scores != nil {
			hit.Score = hits.Scores[i]
		}
		if find != nil {
			text, err := records.TextOf(f, d)
			if err != nil {
				return nil, err
			}
			part := find.Find(text)
			hit.Text, hit.CutBefore, hit.CutAfter = pieces(text, part), part.Start > 0, part.End < len(text)
		}
		out = append(out, hit)
	}
	return out, nil
}

// pieces divides a snippet at its marks.
func pieces(text string, s snippet.Snippet) (all []*api.TextPiece) {
	at := s.Start
	add := func(end int, marked bool) {
		if end > at {
			all = append(all, &api.TextPiece{Text: valid(text[at:end]), Marked: marked})
		}
		at = end
	}
	for _, m := range s.Marks {
		add(m.Start, false)
		add(m.End, true)
	}
	add(s.End, false)
	return all
}

// cut shortens a text to about n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:n] + " …"
}

// valid returns a text as UTF-8.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
