package query

import (
	"fmt"
	"iter"

	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
)

// Prefixes is a Dictionary that finds terms by their beginning.
type Prefixes interface {
	// Prefix yields all terms that begin with prefix. It is safe for concurrent use.
	Prefix(prefix string) iter.Seq[string]
}

// MaxPrefix is the most terms that one prefix may stand for.
const MaxPrefix = 1024

// expand returns the terms that begin with prefix, at most MaxPrefix: the terms of the index, or
// of a shard the terms of the whole.
func (x *Index) expand(prefix string, whole *bm25.Statistics) ([]string, error) {
	dict, ok := x.Dictionary.(Prefixes)
	if !ok {
		return nil, invalidf("prefix %s*: the dictionary of the index finds whole terms only", prefix)
	}
	word := prefix
	if x.prefixes != nil {
		words := x.prefixes.Terms(prefix)
		if len(words) != 1 {
			return nil, invalidf("prefix %s*: the analysis of the index makes %d words of it, one is needed", prefix, len(words))
		}
		word = words[0]
	}
	var terms []string
	all := dict.Prefix(word)
	if whole != nil && whole.Shard {
		all = whole.Prefix(word)
	}
	for t := range all {
		if len(terms) == MaxPrefix {
			return nil, invalidf("prefix %s*: more than %d terms begin with it: write a longer prefix", prefix, MaxPrefix)
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// prefixAnalyzer returns the part of an analyzer that changes characters.
func prefixAnalyzer(a *analyze.Analyzer) (*analyze.Analyzer, error) {
	if a == nil {
		return nil, nil
	}
	s := a.Settings()
	s.Stemmer, s.StopWords = analyze.StemNone, nil
	p, err := analyze.New(s)
	if err != nil {
		return nil, fmt.Errorf("analysis of prefixes: %w", err)
	}
	return p, nil
}
