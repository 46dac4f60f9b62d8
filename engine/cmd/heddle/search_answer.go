package main

import (
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

// searcher answers queries and writes the answers in their order.
type searcher struct {
	x       *engine.Index
	all     *engine.View // answers in place of x, if not nil
	opt     engine.SearchOptions
	rank    *engine.RankOptions // nil: documents are matched, not ranked
	out     *answerWriter
	explain io.Writer // nil: nothing to explain
	path    string    // of the queries; "" for one of the command line
	boolean bool      // queries are expressions

	batch    []engine.Query
	results  plan.Results
	rankings engine.Rankings
	why      observe.Explanation // of the last query on all, when it was alone
}

// answer is what one query got: documents with scores, or documents, or their
// number alone.
type answer struct {
	count  uint64 // of documents that match, where nothing is ranked
	docs   []uint32
	ranked bool
	scores []float64 // of what is ranked
}

// answer answers queries in batches, or one at a time if each is to be
// explained, because a batch has one time for all of them.
func (s *searcher) answer(ctx context.Context, qs []trec.Topic) error {
	size := len(qs)
	if s.explain != nil {
		size = 1
	} else if s.rank != nil {
		size = max(mostRanked/s.rank.K, 1)
	}
	for batch := range slices.Chunk(qs, max(size, 1)) {
		if err := s.answerBatch(ctx, batch); err != nil {
			return err
		}
	}
	return s.out.out.Flush()
}

// mostRanked bounds the documents of ranked answers in memory.
const mostRanked = 1 << 22

func (s *searcher) answerBatch(ctx context.Context, qs []trec.Topic) error {
	s.batch = s.batch[:0]
	for _, q := range qs {
		asked, err := s.query(q)
		if err != nil {
			return s.wrong(q, err)
		}
		s.batch = append(s.batch, asked)
	}
	err := s.run(ctx)
	if e, ok := errors.AsType[*engine.QueryError](err); ok {
		return s.wrong(qs[e.Query], e.Err)
	} else if err != nil {
		return err
	}
	for i, q := range qs {
		got := s.got(i)
		var e *explanation
		if s.explain != nil {
			e = s.explainAnswer(q, s.batch[i], got)
		}
		if e != nil && s.out.format != "jsonl" {
			// Keep the two streams in step where they end on one terminal.
			if err := s.out.out.Flush(); err != nil {
				return err
			}
			if err := e.write(s.explain); err != nil {
				return err
			}
			e = nil
		}
		if err := s.out.write(q, s.batch[i], got, e); err != nil {
			return err
		}
	}
	return nil
}

// run answers the batch.
func (s *searcher) run(ctx context.Context) error {
	if s.all != nil && s.explain != nil {
		if err := s.runAlone(ctx); err == nil || s.why.Kind != "" {
			return err
		}
		// It did not get as far as the scheduler: a call for many says what is wrong where.
	}
	switch {
	case s.all != nil && s.rank != nil:
		return s.all.RankMany(ctx, s.batch, *s.rank, engine.Call{}, &s.rankings)
	case s.all != nil:
		return s.all.SearchMany(ctx, s.batch, s.opt, engine.Call{}, &s.results)
	case s.rank != nil:
		return s.x.RankMany(ctx, s.batch, *s.rank, &s.rankings)
	}
	return s.x.SearchMany(ctx, s.batch, s.opt, &s.results)
}

// runAlone answers the only query of the batch on all processors, and notes why.
func (s *searcher) runAlone(ctx context.Context) error {
	s.why = observe.Explanation{}
	call := engine.Call{Explain: &s.why}
	if s.rank != nil {
		r, err := s.all.Rank(ctx, s.batch[0], *s.rank, call)
		s.rankings = engine.Rankings{Offsets: []uint64{0, uint64(len(r.Docs))}, Docs: r.Docs, Scores: r.Scores, Stats: r.Stats}
		return err
	}
	a, err := s.all.Search(ctx, s.batch[0], s.opt, call)
	s.results = plan.Results{Offsets: []uint64{0, a.Count}, Docs: a.Docs, Stats: a.Stats}
	return err
}

// got is the answer to query i of the batch.
func (s *searcher) got(i int) answer {
	if s.rank != nil {
		docs, scores := s.rankings.Query(i)
		return answer{docs: docs, ranked: true, scores: scores}
	}
	a := answer{count: s.results.Count(i)}
	if !s.opt.CountOnly {
		a.docs = s.results.Query(i)
	}
	return a
}

// stats are those of the batch.
func (s *searcher) stats() plan.Stats {
	if s.rank != nil {
		return s.rankings.Stats
	}
	return s.results.Stats
}

// wrong is an error about q: one of usage, or of the file that it stands in.
func (s *searcher) wrong(q trec.Topic, err error) error {
	if s.path == "" {
		return usageError{err}
	}
	return &trec.Error{Path: s.path, Line: q.Line, Err: err}
}

// query is what q asks of the engine.
func (s *searcher) query(q trec.Topic) (engine.Query, error) {
	switch {
	case s.boolean && q.Terms != nil:
		return engine.Query{}, errors.New("a vector is no boolean query")
	case s.boolean:
		e, err := querylang.Parse(q.Text)
		return engine.Query{Expr: &e}, err
	case q.Terms != nil:
		return engine.Query{Terms: q.Terms, Weights: q.Weights}, nil
	case s.rank == nil && strings.Contains(q.Text, "^"):
		terms, _, err := s.x.WeightedTerms(q.Text) // weights do not change what matches
		return engine.Query{Terms: terms}, err
	}
	return engine.Query{Text: q.Text}, nil
}
