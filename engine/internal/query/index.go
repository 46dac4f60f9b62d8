package query

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"heddle/engine/index/analyze"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/limit"
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

	Limits limit.Limits

	Accumulators plan.Accumulators // of ranked ORs whose queries name none

	analyzer  *analyze.Analyzer // nil: texts are split at white space
	prefixes  *analyze.Analyzer // analyzer without stemmer and stop words; nil like it
	algorithm plan.Algorithm    // algorithm of conjunctions whose queries name none
	docs      func() uint64     // documents with at least one term
	tokens    func() uint64     // sum of the lengths of documents
	withField []func() []uint32 // documents with a word in each field
	batches   sync.Pool         // *Batch
}

// NewIndex returns an index. Texts are split at white space if analyzer is nil. It checks
// src, unless src is lazy and checks each list at its first use.
func NewIndex(src *plan.Source, dict Dictionary, analyzer *analyze.Analyzer, algorithm plan.Algorithm) (*Index, error) {
	if src.Lazy == nil {
		if err := src.Validate(); err != nil {
			return nil, err
		}
	}
	prefixes, err := prefixAnalyzer(analyzer)
	if err != nil {
		return nil, err
	}
	x := &Index{Source: src, Dictionary: dict, Limits: limit.Default(), analyzer: analyzer, prefixes: prefixes, algorithm: algorithm}
	x.batches.New = func() any { return new(Batch) }
	x.docs, x.tokens = sync.OnceValue(src.CountWithTerms), sync.OnceValue(x.countTokens)
	for i := range src.Fields {
		x.withField = append(x.withField, sync.OnceValue(src.Fields[i].Documents))
	}
	return x, nil
}

// Batch returns an empty batch, which Put takes back.
func (x *Index) Batch() *Batch { return x.batches.Get().(*Batch) }

// Put takes back a batch that no caller uses any more.
func (x *Index) Put(b *Batch) { x.batches.Put(b) }

// Terms analyses a query text as documents were analysed. It keeps duplicates, and has no
// limit.
func (x *Index) Terms(text string) []string {
	b := x.Batch()
	defer x.Put(b)
	b.terms, b.until = b.terms[:0], nil
	_ = x.appendTerms(b, text, math.MaxInt) // without until and limit there is no error
	return slices.Clone(b.terms)
}

// appendTerms adds the terms of text to the terms of b, at most to a number of terms. It ends
// early with the error of b.until.
func (x *Index) appendTerms(b *Batch, text string, most int) error {
	if b.tokens == nil && x.analyzer != nil {
		b.tokens = x.analyzer.Tokenizer()
	}
	for text != "" {
		part := text
		if len(text) > limit.Step {
			// A term contains white space in no analysis.
			if n := strings.IndexFunc(text[limit.Step:], unicode.IsSpace); n >= 0 {
				part = text[:limit.Step+n]
			}
			if err := b.ended(); err != nil {
				return err
			}
		}
		text = text[len(part):]
		if x.analyzer == nil {
			b.terms = slices.AppendSeq(b.terms, strings.FieldsSeq(part))
		} else {
			for token := range b.tokens.Tokens([]byte(part)) {
				b.terms = append(b.terms, string(token.Term))
			}
		}
		if len(b.terms) > most {
			return x.Limits.CheckTerms(len(b.terms))
		}
	}
	return nil
}

// appendWord adds the terms of a Term to the terms of b.
func (x *Index) appendWord(b *Batch, e *querylang.Expr) error {
	from := len(b.terms)
	if err := x.appendTerms(b, e.Term, x.Limits.Terms); err != nil {
		return err
	}
	if e.Field != "" {
		for i, t := range b.terms[from:] {
			b.terms[from+i] = key(e.Field, t)
		}
	}
	return nil
}

// ended returns an error if the present query of b has no more time.
func (b *Batch) ended() error {
	if b.until == nil {
		return nil
	}
	return b.until.Err()
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
