package query

import (
	"fmt"

	"heddle/engine/index/analyze"
)

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
