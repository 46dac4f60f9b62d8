package inspect

import (
	"cmp"
	"context"
	"html"
	"slices"
	"strings"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
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
	c, err := s.content(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	l, err := c.lists(ctx, q)
	if err != nil {
		return nil, err
	}
	return &api.ParseQueryResponse{Lists: l.lists, Unknown: l.unknown, Expression: l.expression}, nil
}

// wellFormed checks the syntax of a query, which needs no index.
func wellFormed(q engine.Query) error {
	if _, err := read(q); err != nil && !q.Literal {
		return &engine.Error{Code: engine.InvalidQuery, Op: "parse", Err: err}
	}
	return nil
}

func read(q engine.Query) (querylang.Expr, error) {
	return querylang.Parse(q.Text, q.Match.Join())
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
	c, err := s.content(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	facets, err := s.Facets(r)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(int(r.GetLimit()), defaultHits)
	fields := engine.Fields{Members: r.GetFields(), Attributes: r.GetAttributes()}
	if len(fields.Attributes) > 0 {
		if fields.Table, err = s.Attributes(r.GetIndex()); err != nil {
			return nil, err
		}
	}
	if c.parts[0].File().HasDocuments() {
		fields.Snippet = &engine.Snippet{Size: snippetWidth, Mark: tags, Escape: true}
	}
	if c.all != nil {
		if r.GetProcessor() != "" || r.GetAlgorithm() != "" {
			return nil, badRequest("processor and algorithm are for an index file: the segments of a collection choose their own")
		}
		q.Fields = &fields
		return s.collection(ctx, c, r.GetIndex(), q, api.Ask{Names: true, Explain: true, Limit: uint64(limit), Facets: facets})
	}
	x := c.parts[0]
	q.Override = &engine.Override{Processor: r.GetProcessor()}
	if name := r.GetAlgorithm(); name != "" {
		if q.Override.Algorithm, err = plan.ParseAlgorithm(name); err != nil {
			return nil, badRequest("algorithm: %w", err)
		}
	}
	q.Explain = new(observe.Explanation)
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
	l, err := c.lists(ctx, q)
	if err != nil {
		return nil, err
	}
	out = &api.InspectSearchResponse{Facets: counted, Count: hits.Count, Total: totalOf(&q, hits.Total), After: hits.After, Lists: l.lists, Unknown: l.unknown, Expression: l.expression, Way: wayOf(q.Explain)}
	if q.K == 0 {
		hits.Docs = hits.Docs[:min(limit, len(hits.Docs))]
		out.Algorithm = x.ExplainQuery(q.Explain.Processor, q)
		l.explain(x, q.Explain.Processor)
	}
	if st := &q.Explain.Stats; st.PhraseCandidates > 0 {
		out.Algorithm = "phrases: " + observe.Phrases(st)
	}
	out.Plan = s.plan(ctx, q.Explain, out.Expression, out.Algorithm, postingLists(out.Lists))
	documents, err := x.Documents(ctx, q, hits.Docs, fields)
	for i := range documents {
		out.Hits = append(out.Hits, hit(uint64(hits.Docs[i]), i, hits.Scores, &documents[i]))
	}
	return out, err
}

// collection answers a query on a collection.
func (s *Service) collection(ctx context.Context, c *content, name string, q engine.Query, ask api.Ask) (*api.InspectSearchResponse, error) {
	began := time.Now()
	hits, err := s.Ask(ctx, name, q, ask)
	if err != nil {
		return nil, err
	}
	out := &api.InspectSearchResponse{Count: hits.Count, Total: totalOf(&q, hits.Total), After: hits.After, Explanation: valid(hits.Explanation), Way: &api.Way{TookMs: ms(time.Since(began))}}
	l, err := c.lists(ctx, q)
	if err != nil {
		return nil, err
	}
	out.Lists, out.Unknown, out.Expression = l.lists, l.unknown, l.expression
	if ask.Facets != nil {
		out.Facets = s.FacetAnswer(hits.Matches, hits.Facets)
	}
	for i, id := range hits.IDs {
		out.Hits = append(out.Hits, hit(id, i, hits.Scores, &hits.Documents[i]))
	}
	return out, nil
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
		if err := s.Rank(&q, r.GetK(), r.GetTotal(), r.GetScoring()); err != nil {
			return q, err
		}
	} else if r.GetScoring() != nil {
		return q, badRequest("scoring needs k, the number of documents of a ranked query")
	} else if r.GetTotal() != nil {
		return q, badRequest("total needs k: count has all documents of other queries")
	}
	q.Fresh = r.GetFresh()
	return q, s.Page(&q, r.GetIndex(), r, r.GetAfter())
}

// totalOf is the total of an answer; nil if q does not ask for it.
func totalOf(q *engine.Query, t engine.Total) *api.Total {
	if q.Total == 0 {
		return nil
	}
	return &api.Total{Value: t.Value, Exact: t.Exact}
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

// listsOf returns the posting lists of a query, the shortest first. Their weights are the weights of the terms in the query.
func listsOf(x *engine.Snapshot, q engine.Query) (*queryLists, error) {
	q.Override, q.Explain = nil, nil
	terms, weights, err := x.WeightedTerms(q)
	if err != nil {
		return nil, err
	}
	e, err := x.Meaning(q)
	if err != nil {
		return nil, err
	}
	l := &queryLists{terms: terms, conjunction: e.Op == querylang.Term || e.Op == querylang.And}
	sum := map[plan.Handle]float64{}
	for leaf := range e.Leaves {
		all := []string{leaf.Term}
		if leaf.Field != "" {
			all[0] = leaf.Field + bm25.FieldMark + leaf.Term
		}
		if leaf.Positional() {
			if all, _, err = x.WeightedTerms(engine.Query{Expr: &leaf, Expansion: q.Expansion}); err != nil {
				return nil, err
			}
		}
		for _, t := range all {
			if h, ok := x.File().Lookup(t); ok {
				sum[h] = 0
			}
		}
	}
	for _, a := range e.Args {
		l.conjunction = l.conjunction && a.Op == querylang.Term
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
		p.Weight = sum[h]
		l.lists = append(l.lists, p)
	}
	slices.Sort(l.unknown)
	l.unknown = slices.Compact(l.unknown)
	if q.Text != "" {
		l.expression = valid(cut(e.String(), mostCharacter))
	}
	return l, nil
}

func postingList(x *engine.Snapshot, h plan.Handle) *api.PostingList {
	l := x.Source().Lists[h]
	return &api.PostingList{Term: valid(x.File().Term(h)), Documents: uint64(l.Len), Codec: l.Codec.String(), Bytes: 4 * uint64(l.Words)}
}

// weigh replaces the weight of each term by the greatest part of a score that it adds; 0 without scores.
func (l *queryLists) weigh(q engine.Query, all engine.Statistics, impacts bool) {
	p := bm25.Default()
	if q.Scoring != nil {
		p = *q.Scoring
	}
	for _, x := range l.lists {
		switch {
		case q.K == 0:
			x.Weight = 0
		case !impacts:
			x.Weight *= p.Weight(all.DocsOf(x.Term), x.Documents)
		}
	}
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

// hit is document i of an answer.
func hit(id uint64, i int, scores []float64, d *engine.Contents) *api.InspectedHit {
	h := &api.InspectedHit{Doc: d.Name, Id: id, Fields: string(d.Members), Attributes: string(d.Attributes)}
	if scores != nil {
		h.Score = scores[i]
	}
	text := d.Snippet
	text, h.CutBefore = strings.CutPrefix(text, "… ")
	text, h.CutAfter = strings.CutSuffix(text, " …")
	for marked := false; text != ""; marked = !marked {
		end := tags[0]
		if marked {
			end = tags[1]
		}
		piece, rest, _ := strings.Cut(text, end)
		if piece != "" {
			h.Text = append(h.Text, &api.TextPiece{Text: html.UnescapeString(piece), Marked: marked})
		}
		text = rest
	}
	return h
}

// tags are the marks of words of the query. An escaped text has no other tags.
var tags = [2]string{"<b>", "</b>"}

// cut shortens a text to about n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:n] + " …"
}

// valid returns a text as UTF-8.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
