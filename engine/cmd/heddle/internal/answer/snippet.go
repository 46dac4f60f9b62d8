package answer

import (
	"strings"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/analyze"
	"heddle/engine/index/snippet"
)

// snippetWidth is the approximate length of a snippet, in bytes of the text.
const snippetWidth = 150

// snippets extracts the part of a text that fits a query best.
type snippets struct {
	all    []*engine.Snapshot // the index, or the segments of a collection
	tokens *analyze.Tokenizer
	find   *snippet.Finder // finds the words of the query
}

// newSnippets returns nil for an index, or segments, without stored documents.
func newSnippets(all ...*engine.Snapshot) (*snippets, error) {
	if !all[0].File().HasDocuments() {
		return nil, nil
	}
	a, err := all[0].File().Analyzer()
	if err != nil {
		return nil, err
	}
	return &snippets{all: all, tokens: a.Documents()}, nil
}

// setQuery sets the query of the next snippets.
func (s *snippets) setQuery(q engine.Query) error {
	terms := q.Terms
	if q.Text != "" || q.Expr != nil {
		for _, x := range s.all { // a prefix stands for other terms in each
			some, _, err := x.WeightedTerms(q)
			if err != nil {
				return err
			}
			terms = append(terms, some...)
		}
	}
	s.find = snippet.New(s.tokens, terms, snippetWidth)
	return nil
}

// of returns the part of text with the most terms of the query, on one printable line,
// with stars around each of these words. Without any of the terms it is the beginning of
// the text.
func (s *snippets) of(text string) string {
	part := s.find.Find(text)
	var b strings.Builder
	if part.Start > 0 {
		b.WriteString("… ")
	}
	at := part.Start
	for _, m := range part.Marks {
		b.WriteString(text[at:m.Start] + "*" + text[m.Start:m.End] + "*")
		at = m.End
	}
	b.WriteString(text[at:part.End])
	if part.End < len(text) {
		b.WriteString(" …")
	}
	return terminal.Field(strings.Join(strings.Fields(b.String()), " "))
}
