package query

import (
	"slices"
	"strings"
	"sync"

	"heddle/engine/index/analyze"
	"heddle/engine/plan"
)

// Dictionary finds the list of a term. Lookup is safe for concurrent use.
type Dictionary interface {
	Lookup(term string) (plan.Handle, bool)
}

// Index is a set of lists with their dictionary. It is safe for concurrent use.
type Index struct {
	Source     *plan.Source
	Dictionary Dictionary
	Unit       float64 // score of an impact of 1, as in hdl.Impacts.Scale; 0 is 1

	analyzer  *analyze.Analyzer // nil: texts are split at white space
	prefixes  *analyze.Analyzer // analyzer without stemmer and stop words; nil like it
	algorithm plan.Algorithm    // of queries that leave it open
	tokens    func() uint64     // sum of the lengths of documents
	batches   sync.Pool         // *Batch
}

// NewIndex returns an index. Texts are split at white space if analyzer is nil. It checks
// src.
func NewIndex(src *plan.Source, dict Dictionary, analyzer *analyze.Analyzer, algorithm plan.Algorithm) (*Index, error) {
	if err := src.Validate(); err != nil {
		return nil, err
	}
	prefixes, err := prefixAnalyzer(analyzer)
	if err != nil {
		return nil, err
	}
	x := &Index{Source: src, Dictionary: dict, analyzer: analyzer, prefixes: prefixes, algorithm: algorithm}
	x.batches.New = func() any { return new(Batch) }
	x.tokens = sync.OnceValue(x.countTokens)
	return x, nil
}

// Batch returns an empty batch, which Put takes back.
func (x *Index) Batch() *Batch { return x.batches.Get().(*Batch) }

// Put takes back a batch that no caller uses any more.
func (x *Index) Put(b *Batch) { x.batches.Put(b) }

// Terms analyses a query text as documents were analysed. It keeps duplicates.
func (x *Index) Terms(text string) []string {
	b := x.Batch()
	defer x.Put(b)
	return slices.Clone(x.analyze(b, text))
}

// analyze returns the terms of text. They are valid until the next text of b.
func (x *Index) analyze(b *Batch, text string) []string {
	b.terms = b.terms[:0]
	x.appendTerms(b, text)
	return b.terms
}

// appendTerms adds the terms of text to the terms of b.
func (x *Index) appendTerms(b *Batch, text string) {
	if x.analyzer == nil {
		for t := range strings.FieldsSeq(text) {
			b.terms = append(b.terms, t)
		}
		return
	}
	if b.tokens == nil {
		b.tokens = x.analyzer.Tokenizer()
	}
	b.tokens.Each([]byte(text), func(term []byte) { b.terms = append(b.terms, string(term)) })
}

// Explain names the algorithm that a store runs q under: see Batch.Explain.
func (x *Index) Explain(s plan.Store, q *Query) (string, error) {
	var set Settings
	if err := x.Settle(&set, &q.Options); err != nil {
		return "", err
	}
	b := x.Batch()
	defer x.Put(b)
	b.Reset(&set.Kind)
	if _, err := b.Add(x, q, &set); err != nil {
		return "", err
	}
	return b.Explain(s), nil
}
