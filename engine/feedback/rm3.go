package feedback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"heddle/engine"
	"heddle/engine/index/analyze"
	"heddle/engine/index/querylang"
)

// RM3 expands queries by the relevance model of Lavrenko and Croft, mixed with the query (Abdul-Jaleel et al. 2004), with the
// parameters and defaults of Anserini.
type RM3 struct {
	Docs   int      // best documents whose terms are taken, 1 to 1000; 0: 10
	Terms  int      // terms of the model, 1 to 1000; 0: 10
	Weight *float64 // weight of the query, 0 to 1; the rest is the weight of the model; nil: 0.5
}

// mostShare is the share of the documents above which a term is not taken.
const mostShare = 0.1

// The least and greatest length of the terms that are taken, in characters.
const shortest, longest = 2, 20

func invalid(format string, args ...any) error {
	return &engine.Error{Code: engine.InvalidOption, Op: "feedback", Err: fmt.Errorf(format, args...)}
}

// within checks a number, whose default stands for 0.
func within(name string, n *int, standard, most int) error {
	if *n = cmp.Or(*n, standard); *n < 1 || *n > most {
		return invalid("%s is %d, want 1 to %d", name, *n, most)
	}
	return nil
}

// Expand searches for q, a ranked query of words without operators, and returns the query of its words and of the model:
//
//   - The words of q have their weights, divided by the sum of all.
//   - A document has its terms of 2 to 20 characters, letters and digits alone, in at most a tenth of all documents. The value of a
//     term is the sum over the documents of score · frequency / sum of the frequencies of these terms.
//   - The model is the Terms terms of the greatest values, ties in their order, with their values divided by the sum of all.
//   - The weight of a term is Weight · weight in q + (1 - Weight) · value in the model.
//
// A query of whose documents no term is taken is its words alone, and one of which the analysis leaves nothing stays as it is.
func (r RM3) Expand(ctx context.Context, x Index, q engine.Query) (engine.Query, error) {
	weight := 0.5
	if r.Weight != nil {
		weight = *r.Weight
	}
	if err := errors.Join(within("the number of documents", &r.Docs, 10, 1000), within("the number of terms", &r.Terms, 10, 1000)); err != nil {
		return q, err
	}
	switch {
	case !(weight >= 0 && weight <= 1):
		return q, invalid("the weight of the query is %v, want 0 to 1", weight)
	case q.K == 0:
		return q, invalid("the query is not ranked")
	case q.Text == "":
		return q, invalid("a query of words is needed")
	}
	a, err := analyzer(ctx, x)
	if err != nil {
		return q, err
	}
	own, err := queryWords(a, &q)
	if err != nil || len(own) == 0 {
		return q, err
	}
	first := engine.Query{
		Text: q.Text, Literal: q.Literal, Filter: q.Filter, QueryFields: q.QueryFields, Tie: q.Tie, Match: q.Match, K: r.Docs,
		Scoring: q.Scoring, Statistics: q.Statistics, Caller: q.Caller, Timeout: q.Timeout, Fields: &text,
	}
	hits, err := x.Search(ctx, first)
	if err != nil {
		return q, err
	}
	docs := make([]map[string]float64, len(hits.Documents))
	all := map[string]float64{} // also of the query
	maps.Copy(all, own)
	for i := range docs {
		docs[i] = frequencies(a, hits.Documents[i].Snippet)
		maps.Copy(all, docs[i])
	}
	w, err := look(ctx, x, slices.Sorted(maps.Keys(all)), q.QueryFields)
	if err != nil {
		return q, err
	}
	values := map[string]float64{}
	for i, d := range docs {
		maps.DeleteFunc(d, func(t string, _ float64) bool {
			return !taken(t) || float64(w.df[t]) > mostShare*float64(w.docs)
		})
		total := sum(d)
		for t, n := range d {
			values[t] += hits.Scores[i] * n / total
		}
	}
	model := best(values, r.Terms)
	if len(model) == 0 {
		weight = 1
	}
	scale(own, weight)
	scale(model, 1-weight)
	for t, v := range model {
		own[t] += v
	}
	return w.query(q, own), nil
}

// scale divides values by their sum and multiplies them by a factor.
func scale(values map[string]float64, by float64) {
	total := sum(values)
	for t := range values {
		values[t] *= by / total
	}
}

// queryWords are the terms of a query with their weights.
func queryWords(a *analyze.Analyzer, q *engine.Query) (map[string]float64, error) {
	all := map[string]float64{}
	add := func(part string, weight float64) error {
		for _, t := range a.Terms(part) {
			all[t] += weight
		}
		return nil
	}
	if q.Literal {
		return all, add(q.Text, 1)
	}
	words, err := querylang.EachWord(q.Text, add)
	if err == nil && !words {
		err = invalid("a query of words is needed: omit operators, phrases, fields and tolerant words")
	}
	return all, err
}

// frequencies are the terms of a text.
func frequencies(a *analyze.Analyzer, text string) map[string]float64 {
	all := map[string]float64{}
	for _, t := range a.Terms(text) {
		all[t]++
	}
	return all
}

// taken tells whether a term of a document may be in a model.
func taken(term string) bool {
	n := utf8.RuneCountInString(term)
	for _, r := range term {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			return false
		}
	}
	return n >= shortest && n <= longest
}

// sum adds values up in a fixed order, so that equal queries have equal scores.
func sum(values map[string]float64) (total float64) {
	for _, t := range slices.Sorted(maps.Keys(values)) {
		total += values[t]
	}
	return total
}

// best are the terms of the greatest values, at most a number of them, ties by their order.
func best(values map[string]float64, most int) map[string]float64 {
	terms := slices.SortedFunc(maps.Keys(values), func(s, t string) int { return cmp.Or(cmp.Compare(values[t], values[s]), cmp.Compare(s, t)) })
	out := map[string]float64{}
	for _, t := range terms[:min(most, len(terms))] {
		out[t] = values[t]
	}
	return out
}
