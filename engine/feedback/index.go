package feedback

import (
	"context"
	"maps"
	"slices"
	"strings"

	"heddle/engine"
	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
)

// Index is an index or a collection with stored texts.
type Index interface {
	Analysis(ctx context.Context) (analyze.Settings, error)
	Search(ctx context.Context, q engine.Query) (engine.Hits, error)
	Document(ctx context.Context, name string, f engine.Fields) (engine.Contents, error)
	Statistics(ctx context.Context, terms ...string) (engine.Statistics, error)
}

// Of returns an index file, as long as the snapshot is open.
func Of(s *engine.Snapshot) Index { return file{s} }

type file struct{ *engine.Snapshot }

func (f file) Analysis(context.Context) (analyze.Settings, error) {
	return f.File().Meta().Analysis, nil
}

func (f file) Document(ctx context.Context, name string, parts engine.Fields) (engine.Contents, error) {
	_, d, err := f.Snapshot.Document(ctx, name, parts)
	return d, err
}

func (f file) Statistics(_ context.Context, terms ...string) (engine.Statistics, error) {
	return f.Snapshot.Statistics(terms...), nil
}

// OfCollection returns a collection, as long as it is open.
func OfCollection(c *engine.Collection) Index { return collection{c} }

type collection struct{ *engine.Collection }

func (c collection) Analysis(context.Context) (analyze.Settings, error) {
	s, err := c.Snapshot()
	if err != nil {
		return analyze.Settings{}, err
	}
	defer s.Close()
	return s.Segments()[0].File().Meta().Analysis, nil
}

func analyzer(ctx context.Context, x Index) (*analyze.Analyzer, error) {
	s, err := x.Analysis(ctx)
	if err != nil {
		return nil, err
	}
	return analyze.New(s)
}

// text asks for the whole text of documents.
var text = engine.Fields{Snippet: &engine.Snippet{Size: 100_000}}

// words are words of documents with what the index knows of them.
type words struct {
	docs   uint64 // documents with terms
	df     map[string]uint64
	fields []querylang.Field // of the query; nil: the index has none
	of     engine.Statistics
}

// look finds the numbers of documents of all words.
func look(ctx context.Context, x Index, all []string, queryFields string) (*words, error) {
	st, err := x.Statistics(ctx)
	if err != nil {
		return nil, err
	}
	w := &words{docs: st.Docs, df: map[string]uint64{}}
	var names []string
	for _, f := range st.Fields {
		names = append(names, f.Name)
	}
	if w.fields, err = querylang.ParseFields(queryFields); err != nil {
		return nil, err
	}
	for _, f := range w.fields {
		if names == nil {
			return nil, invalid("the index has no fields: build it with --fields")
		}
		if !slices.Contains(names, f.Name) {
			return nil, invalid("no document has the field %s (fields: %s)", f.Name, strings.Join(names, ", "))
		}
	}
	if w.fields == nil {
		for _, name := range names {
			w.fields = append(w.fields, querylang.Field{Name: name, Weight: 1})
		}
	}
	var terms []string
	for _, word := range all {
		terms = append(terms, w.terms(word)...)
	}
	if w.of, err = x.Statistics(ctx, terms...); err != nil {
		return nil, err
	}
	for _, word := range all {
		for _, t := range w.terms(word) {
			w.df[word] = max(w.df[word], w.of.DF[t])
		}
	}
	return w, nil
}

// terms are the terms of a word: one in each field.
func (w *words) terms(word string) (all []string) {
	if w.fields == nil {
		return []string{word}
	}
	for _, f := range w.fields {
		all = append(all, f.Name+bm25.FieldMark+word)
	}
	return all
}

// query makes the terms of weighted words the terms of a query.
func (w *words) query(q engine.Query, weights map[string]float64) engine.Query {
	q.Text, q.Literal, q.Expr, q.Terms, q.Weights, q.Match, q.QueryFields = "", false, nil, nil, nil, engine.Or, ""
	for _, word := range slices.Sorted(maps.Keys(weights)) {
		for i, t := range w.terms(word) {
			weight := weights[word]
			if w.fields != nil {
				weight *= w.fields[i].Weight
			}
			if weight > 0 && w.of.DF[t] > 0 {
				q.Terms, q.Weights = append(q.Terms, t), append(q.Weights, weight)
			}
		}
	}
	if q.Terms == nil { // no document has a word
		q.Terms = slices.Sorted(maps.Keys(weights))
	}
	return q
}
