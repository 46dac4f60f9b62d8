package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/index/synonym"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// Snapshot is the content of an index at a moment. It is safe for concurrent use, except that
// Close must not run beside other calls. After Close, methods return an error of code Closed;
// methods without an error return zero values.
type Snapshot struct {
	g      *lists.Generation
	closed atomic.Bool
}

// Close ends the use of the snapshot. Further calls have no effect.
func (s *Snapshot) Close() error {
	if !s.closed.Swap(true) {
		s.g.Release()
	}
	return nil
}

// lists returns the lists of the snapshot, or an error of code Closed.
func (s *Snapshot) lists(op string) (*lists.Generation, error) {
	if s.closed.Load() {
		return nil, failure.Wrap(op, fmt.Errorf("the snapshot is %w", plan.ErrClosed))
	}
	return s.g, nil
}

// Search is Index.Search on the snapshot.
func (s *Snapshot) Search(ctx context.Context, q Query) (Hits, error) {
	g, err := s.lists("search")
	if err != nil {
		return Hits{}, err
	}
	return search(ctx, g, &q)
}

// SearchAll is Index.SearchAll on the snapshot.
func (s *Snapshot) SearchAll(ctx context.Context, qs []Query, deliver func(first int, hits []Hits) error) error {
	g, err := s.lists("search")
	if err != nil {
		return err
	}
	return searchAll(ctx, g, qs, deliver)
}

// File returns the index file, which names documents and stores their texts; nil for an index
// in memory. Close closes it.
func (s *Snapshot) File() *hdl.File {
	if s.closed.Load() {
		return nil
	}
	return s.g.File
}

// Source returns the lists, which are valid until Close. They must not be changed. Its Describe and DescribeAll
// read the descriptors of lists that no query has used.
func (s *Snapshot) Source() *plan.Source {
	if s.closed.Load() {
		return nil
	}
	return s.g.Source
}

// Terms analyses a query text as Search does. It keeps duplicates.
func (s *Snapshot) Terms(text string) []string {
	if s.closed.Load() {
		return nil
	}
	return s.g.Terms(text)
}

// WeightedTerms returns the terms of q that add to scores, analysed as documents were, and
// their weights: all terms except excluded ones. It keeps duplicates and terms that no
// document has. Caller and Timeout of q hold as in Search. Errors: codes InvalidQuery,
// Unsupported above a limit, Overloaded, Deadline, Closed.
func (s *Snapshot) WeightedTerms(q Query) (terms []string, weights []float64, err error) {
	defer failure.Catch("terms", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := s.lists("terms")
	if err != nil {
		return nil, nil, err
	}
	err = analyse(g, &q, func(in *query.Query) (err error) {
		terms, weights, err = g.WeightedTerms(in)
		return err
	})
	return terms, weights, failure.Wrap("terms", err)
}

// Expression returns the documents that q matches, as an expression over the lists in
// canonical form (plan.Expr.Simplify). If not is true, q matches all documents that e does not match. A term
// that the analysis splits is an AND of its parts. A term that the analysis removes, such as a stop word, is left
// out, with the terms that NOT subtracts from it. A term that no document has is the empty set. Caller, Timeout
// and errors are as in WeightedTerms.
func (s *Snapshot) Expression(q Query) (e plan.Expr, not bool, err error) {
	defer failure.Catch("expression", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := s.lists("expression")
	if err != nil {
		return e, false, err
	}
	err = analyse(g, &q, func(in *query.Query) (err error) {
		e, not, err = g.Expression(in)
		return err
	})
	return e, not, failure.Wrap("expression", err)
}

// Note says which part of the text of q has no effect. If the query has no documents (found is false) because the
// analysis removes all its words, such as stop words and words without a letter or digit, the note names these
// words. Else it names the first character that is an operator elsewhere, but not at its place. The note is ""
// if there is nothing to say, and for a closed snapshot.
func (s *Snapshot) Note(q Query, found bool) string {
	g, err := s.lists("note")
	if err != nil {
		return ""
	}
	if q.Text == "" && (len(q.Terms) > 0 || q.Expr != nil || q.Filter != nil || len(q.Sort) > 0) {
		return ""
	}
	return g.Note(q.Text, q.Literal, found)
}

// Meaning returns the documents that q matches as the index understands it: Expression, with terms in place of lists.
// Phrases and windows are as in q. Weights are left out. The index must have a file. Caller, Timeout and errors are as in
// WeightedTerms.
func (s *Snapshot) Meaning(q Query) (e querylang.Expr, err error) {
	defer failure.Catch("meaning", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := s.lists("meaning")
	if err != nil {
		return e, err
	}
	err = analyse(g, &q, func(in *query.Query) (err error) {
		e, err = g.Meaning(in, g.File.Term)
		return err
	})
	return e, failure.Wrap("meaning", err)
}

// Synonyms returns the synonyms of rules for the analysis of the index, which must have a file. Errors: code
// InvalidOption for a word of which the analysis leaves nothing, and for several words on an index without positions.
func (s *Snapshot) Synonyms(rules *synonym.Rules) (*synonym.Set, error) {
	g, err := s.lists("synonyms")
	if err != nil {
		return nil, err
	}
	a, err := g.File.Analyzer()
	if err != nil {
		return nil, failure.Wrap("synonyms", err)
	}
	set, err := rules.For(a, g.Source.Positions != nil)
	return set, failure.Invalid("synonyms", err)
}

// analyse calls run with q, under the limits of its size and time.
func analyse(g *lists.Generation, q *Query, run func(*query.Query) error) error {
	call, err := q.call()
	if err != nil {
		return err
	}
	var in query.Query
	q.internal(&in)
	return g.Read(&in, &call, func() error { return run(&in) })
}

// Statistics is Index.Statistics of the snapshot.
func (s *Snapshot) Statistics(terms ...string) Statistics {
	defer mapped.Unwatch(mapped.Watch())
	if s.closed.Load() {
		return Statistics{}
	}
	return Statistics(s.g.Index.Statistics(terms...))
}

// ExplainList says how a processor looks up docIDs in a list under an algorithm: a short
// text such as "bitset, one load". An empty name stands for the first processor with the lists.
func (s *Snapshot) ExplainList(processor string, a plan.Algorithm, h plan.Handle) string {
	defer mapped.Unwatch(mapped.Watch())
	if t := s.target(processor); t != nil {
		return t.Store.Explain(s.g.Algorithm(a), h)
	}
	return ""
}

// ExplainQuery names the algorithm under which a processor runs q, and the reason if the
// processor chooses it. It is empty for a query that is no conjunction.
func (s *Snapshot) ExplainQuery(processor string, q Query) string {
	defer mapped.Unwatch(mapped.Watch())
	t := s.target(processor)
	if t == nil {
		return ""
	}
	var in query.Query
	q.internal(&in)
	text, err := s.g.Explain(t.Store, &in)
	if err != nil {
		return err.Error()
	}
	return text
}

// target returns the lists on a processor; on the first one that has them if the name is
// empty; nil if there are none.
func (s *Snapshot) target(processor string) *lists.Target {
	if s.closed.Load() {
		return nil
	}
	for _, t := range s.g.Targets() {
		if processor == "" || t.Processor.Name == processor {
			return &t
		}
	}
	return nil
}

// IndexInfo describes an index.
type IndexInfo struct {
	Docs     uint32
	Lists    int
	Path     string // path of the index file; empty for an index in memory
	Checksum uint64 // checksum of the content of the file; 0 for an index in memory
	// Resident says how the lists lie on the processors that have them.
	Resident []Resident
}

// Info describes the snapshot.
func (s *Snapshot) Info() IndexInfo {
	if s.closed.Load() {
		return IndexInfo{}
	}
	info := IndexInfo{Docs: s.g.Source.Docs, Lists: len(s.g.Source.Lists)}
	if f := s.g.File; f != nil {
		info.Path, info.Checksum = f.Path(), s.g.Checksum()
	}
	for _, t := range s.g.Targets() {
		r := Resident{Processor: t.Processor.Name, Reserve: t.Processor.Reserve, Info: t.Info, Bytes: t.Store.Memory(), Reason: t.Why,
			Batch: t.Threshold(&query.Kind{}), BatchPostings: t.Threshold(&query.Kind{K: 1})}
		if t.Cached != nil {
			c := t.Cached.CacheStats()
			r.Cache = &c
		}
		info.Resident = append(info.Resident, r)
	}
	return info
}
