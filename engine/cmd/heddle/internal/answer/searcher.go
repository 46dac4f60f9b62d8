// Package answer runs the queries of heddle search and prints hits, run headers,
// snippets and explanations.
package answer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"

	"heddle/engine"
	"heddle/engine/index/querylang"
	"heddle/engine/index/synonym"
	"heddle/engine/index/trec"
	"heddle/engine/internal/query"
	"heddle/engine/observe"
)

// Searcher answers queries and prints the answers in the order of the queries. It is not
// safe for concurrent use.
type Searcher struct {
	Index     *engine.Snapshot
	Query     engine.Query // options of all queries; K 0: documents are matched without scores
	Scheduled bool         // explanations include the decisions of the scheduler
	// Invalid receives an invalid query and the reason. The query has no answer. An error of
	// Invalid ends the run.
	Invalid func(q trec.Topic, err error) error
	Notes   io.Writer // receives the unknown terms of queries without documents
	// Synonyms are put into the texts. Default: nil, none.
	Synonyms *synonym.Set
	Similar  bool      // a note on terms without documents names similar ones
	Explain  io.Writer // nil: no explanations
	Choice   string    // reason for the backend, in explanations
	Writer   Writer
	// Facets are printed after the documents of each query, unless nil.
	Facets *engine.Facets

	batch   []engine.Query
	asked   []trec.Topic // topics of batch
	answers []engine.Hits
	why     observe.Explanation // explanation of the last explained query
}

// maxRanked limits the ranked documents of one batch, and maxFetched the documents with parts, because
// their results stay in memory until they are printed.
const maxRanked, maxFetched = 1 << 22, 1 << 12

// batchSize is the number of queries of a batch, at most n. An explained query is a batch.
func batchSize(q *engine.Query, n int, explain bool) int {
	switch {
	case explain:
		return 1
	case q.Fields != nil:
		n = min(n, maxFetched/q.K)
	case q.K > 0:
		n = min(n, maxRanked/q.K)
	}
	return max(n, 1)
}

// Answer runs queries in batches. With explanations each query is its own batch, because
// a batch has one time for all its queries.
func (s *Searcher) Answer(ctx context.Context, qs []trec.Topic) error {
	for batch := range slices.Chunk(qs, batchSize(&s.Query, len(qs), s.Explain != nil)) {
		if err := s.answerBatch(ctx, batch); err != nil {
			return err
		}
	}
	return s.Writer.Out.Flush()
}

func (s *Searcher) answerBatch(ctx context.Context, qs []trec.Topic) error {
	s.batch, s.asked = s.batch[:0], s.asked[:0]
	for _, q := range qs {
		asked, err := s.query(q)
		if err == nil {
			s.batch, s.asked = append(s.batch, asked), append(s.asked, q)
		} else if err = s.Invalid(q, err); err != nil {
			return err
		}
	}
	if len(s.batch) == 0 {
		return nil
	}
	if err := s.run(ctx); err != nil && !query.Invalid(err) {
		return err
	}
	for i, q := range s.asked {
		var err error
		if wrong, ok := errors.AsType[*engine.Error](s.answers[i].Err); ok {
			err = s.Invalid(q, wrong.Err)
		} else {
			err = s.print(ctx, q, i)
			if err == nil && s.Facets != nil {
				err = s.facets(ctx, q, s.batch[i])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// print prints the answer to q, which is query i of the batch, and its explanation.
func (s *Searcher) print(ctx context.Context, q trec.Topic, i int) error {
	got := s.answers[i]
	if got.Count == 0 && s.Explain == nil {
		known, unknown := s.terms(s.batch[i])
		if s.Similar && len(unknown) > 0 {
			all, err := s.Index.Corrections(ctx, s.batch[i])
			if err != nil {
				return err
			}
			similar(unknown, all)
		}
		if err := note(s.Notes, q, s.Query.Literal, s.Index, known, unknown); err != nil {
			return err
		}
	}
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
	return s.Writer.write(q, s.batch[i], foundIn(s.Index.File(), got), e)
}

// terms returns the terms of a query that add to scores, without duplicates: known ones and
// words that no document has. A prefix or tolerant word without terms stands for itself.
func (s *Searcher) terms(asked engine.Query) (known, unknown []string) {
	all, _, err := s.Index.WeightedTerms(asked)
	if err != nil { // the query was answered
		return nil, nil
	}
	slices.Sort(all)
	for _, t := range slices.Compact(all) {
		if _, ok := s.Index.File().Lookup(t); ok {
			known = append(known, t)
		} else {
			unknown = append(unknown, t)
		}
	}
	st := s.Index.Statistics()
	unknown = wordsOf(&asked, &st, known, unknown)
	if asked.Expr == nil {
		return known, unknown
	}
	for leaf := range asked.Expr.Leaves {
		if leaf.Expands() {
			if some, _, err := s.Index.WeightedTerms(engine.Query{Expr: &leaf}); err == nil && len(some) == 0 {
				leaf.Weight = 0
				unknown = append(unknown, leaf.String())
			}
		}
	}
	return known, unknown
}

// run executes the batch. With explanations it is one query.
func (s *Searcher) run(ctx context.Context) (err error) {
	s.answers = slices.Grow(s.answers[:0], len(s.batch))[:len(s.batch)]
	if s.Explain != nil {
		s.why = observe.Explanation{}
		s.batch[0].Explain = &s.why
		s.answers[0], err = s.Index.Search(ctx, s.batch[0])
		s.answers[0].Err = err
		return err
	}
	return s.Index.SearchAll(ctx, s.batch, func(first int, hits []engine.Hits) error {
		for i, h := range hits {
			h.Docs, h.Scores = slices.Clone(h.Docs), slices.Clone(h.Scores)
			s.answers[first+i] = h
		}
		return nil
	})
}

// ranked tells whether documents are scored.
func (s *Searcher) ranked() bool { return s.Query.K > 0 }

// query converts q to a query of the engine. A text with operators becomes an expression.
func (s *Searcher) query(q trec.Topic) (asked engine.Query, err error) {
	asked = s.Query
	switch {
	case q.Err != nil:
		return asked, q.Err
	case q.Terms != nil:
		asked.Terms, asked.Weights = q.Terms, q.Weights
		return asked, nil
	}
	if asked.Text, asked.Literal, err = rewrite(s.Synonyms, &asked, q.Text); err != nil || asked.Literal {
		return asked, err
	}
	asked.Expr, err = querylang.Read(asked.Text, asked.Match.Join()) // errors name the text
	return asked, err
}

// rewrite returns a text with synonyms, and whether it is without operators.
func rewrite(s *synonym.Set, q *engine.Query, text string) (string, bool, error) {
	if s == nil {
		return text, q.Literal, nil
	}
	text, err := s.Rewrite(text, q.Literal, q.Match.Join())
	return text, false, err
}

// NewWriter returns a Writer of answers in one format, buffered.
func NewWriter(out io.Writer, format string) Writer {
	return Writer{Out: bufio.NewWriterSize(out, 64<<10), Format: format}
}
