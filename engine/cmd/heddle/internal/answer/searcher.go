// Package answer runs the queries of heddle search and prints hits, run headers,
// snippets and explanations.
package answer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"heddle/engine"
	"heddle/engine/index/querylang"
	"heddle/engine/index/trec"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Searcher answers queries and prints the answers in the order of the queries. It is not
// safe for concurrent use.
type Searcher struct {
	Index   *engine.Index
	View    *engine.View // nil: Index answers
	Search  engine.SearchOptions
	Rank    *engine.RankOptions                 // nil: documents are matched without scores
	Boolean bool                                // queries are boolean expressions
	Invalid func(q trec.Topic, err error) error // converts the error of an invalid query
	Explain io.Writer                           // nil: no explanations
	Choice  string                              // reason for the backend, in explanations
	Writer  Writer

	batch    []engine.Query
	results  plan.Results
	rankings engine.Rankings
	why      observe.Explanation // of the last explained query on View
}

// hits is the answer to one query.
type hits struct {
	count  uint64 // matching documents, if not ranked
	docs   []uint32
	ranked bool
	scores []float64 // parallel to docs, if ranked
}

// maxRanked limits the ranked documents of one batch, because their results stay in
// memory until they are printed.
const maxRanked = 1 << 22

// Answer runs queries in batches. With explanations each query is its own batch, because
// a batch has one time for all its queries.
func (s *Searcher) Answer(ctx context.Context, qs []trec.Topic) error {
	size := len(qs)
	if s.Explain != nil {
		size = 1
	} else if s.Rank != nil {
		size = max(maxRanked/s.Rank.K, 1)
	}
	for batch := range slices.Chunk(qs, max(size, 1)) {
		if err := s.answerBatch(ctx, batch); err != nil {
			return err
		}
	}
	return s.Writer.Out.Flush()
}

func (s *Searcher) answerBatch(ctx context.Context, qs []trec.Topic) error {
	s.batch = s.batch[:0]
	for _, q := range qs {
		asked, err := s.query(q)
		if err != nil {
			return s.Invalid(q, err)
		}
		s.batch = append(s.batch, asked)
	}
	err := s.run(ctx)
	if e, ok := errors.AsType[*engine.QueryError](err); ok {
		return s.Invalid(qs[e.Query], e.Err)
	} else if err != nil {
		return err
	}
	for i, q := range qs {
		if err := s.print(q, i); err != nil {
			return err
		}
	}
	return nil
}

// print prints the answer to q, which is query i of the batch, and its explanation.
func (s *Searcher) print(q trec.Topic, i int) error {
	got := s.hits(i)
	var e *Explanation
	if s.Explain != nil {
		e = s.explain(q, s.batch[i], got)
	}
	if e != nil && s.Writer.Format != "jsonl" {
		// Both streams may end on the same terminal, so they stay in step.
		if err := s.Writer.Out.Flush(); err != nil {
			return err
		}
		if err := e.write(s.Explain); err != nil {
			return err
		}
		e = nil
	}
	return s.Writer.write(q, s.batch[i], got, e)
}

// run executes the batch.
func (s *Searcher) run(ctx context.Context) error {
	if s.View != nil && s.Explain != nil {
		if err := s.runAlone(ctx); err == nil || s.why.Kind != "" {
			return err
		}
		// The query failed before it was scheduled: the batch call names its number.
	}
	switch {
	case s.View != nil && s.Rank != nil:
		return s.View.RankMany(ctx, s.batch, *s.Rank, engine.Call{}, &s.rankings)
	case s.View != nil:
		return s.View.SearchMany(ctx, s.batch, s.Search, engine.Call{}, &s.results)
	case s.Rank != nil:
		return s.Index.RankMany(ctx, s.batch, *s.Rank, &s.rankings)
	}
	return s.Index.SearchMany(ctx, s.batch, s.Search, &s.results)
}

// runAlone executes the only query of the batch with an explanation of its schedule.
func (s *Searcher) runAlone(ctx context.Context) error {
	s.why = observe.Explanation{}
	call := engine.Call{Explain: &s.why}
	if s.Rank != nil {
		r, err := s.View.Rank(ctx, s.batch[0], *s.Rank, call)
		s.rankings = engine.Rankings{Offsets: []uint64{0, uint64(len(r.Docs))}, Docs: r.Docs, Scores: r.Scores, Stats: r.Stats}
		return err
	}
	a, err := s.View.Search(ctx, s.batch[0], s.Search, call)
	s.results = plan.Results{Offsets: []uint64{0, a.Count}, Docs: a.Docs, Stats: a.Stats}
	return err
}

// hits returns the answer to query i of the batch.
func (s *Searcher) hits(i int) hits {
	if s.Rank != nil {
		docs, scores := s.rankings.Query(i)
		return hits{docs: docs, ranked: true, scores: scores}
	}
	h := hits{count: s.results.Count(i)}
	if !s.Search.CountOnly {
		h.docs = s.results.Query(i)
	}
	return h
}

// stats returns the times of the batch.
func (s *Searcher) stats() plan.Stats {
	if s.Rank != nil {
		return s.rankings.Stats
	}
	return s.results.Stats
}

// query converts q to a query of the engine.
func (s *Searcher) query(q trec.Topic) (engine.Query, error) {
	switch {
	case s.Boolean && q.Terms != nil:
		return engine.Query{}, errors.New("a vector is not a boolean query")
	case s.Boolean:
		e, err := querylang.Parse(q.Text)
		return engine.Query{Expr: &e}, err
	case q.Terms != nil:
		return engine.Query{Terms: q.Terms, Weights: q.Weights}, nil
	case s.Rank == nil && strings.Contains(q.Text, "^"):
		terms, _, err := s.Index.WeightedTerms(q.Text) // weights do not change the matches
		return engine.Query{Terms: terms}, err
	}
	return engine.Query{Text: q.Text}, nil
}

// NewWriter returns a Writer of answers of x in one format, buffered.
func NewWriter(x *engine.Index, out io.Writer, format string) Writer {
	return Writer{Out: bufio.NewWriterSize(out, 64<<10), Format: format, file: x.File()}
}
