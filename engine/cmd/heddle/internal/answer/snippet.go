package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/analyze"
)

// snippetWidth is the approximate length of a snippet, in bytes of the text.
const snippetWidth = 150

// snippets extracts the part of a text that fits a query best.
type snippets struct {
	x      *engine.Snapshot
	tokens *analyze.Tokenizer
	terms  map[string]bool // of the query

	marks []mark // of one text
}

// mark is an occurrence of a term of the query in a text, as byte offsets.
type mark struct {
	start, end int
	term       string
}

// newSnippets returns nil for an index without texts.
func newSnippets(x *engine.Snapshot) (*snippets, error) {
	if !x.File().HasText() {
		return nil, nil
	}
	a, err := analyze.New(x.File().Meta().Analysis)
	if err != nil {
		return nil, err
	}
	return &snippets{x: x, tokens: a.Tokenizer()}, nil
}

// setQuery sets the query of the next snippets.
func (s *snippets) setQuery(q engine.Query) error {
	terms := q.Terms
	if q.Text != "" || q.Expr != nil {
		var err error
		if terms, _, err = s.x.WeightedTerms(q); err != nil {
			return err
		}
	}
	s.terms = make(map[string]bool, len(terms))
	for _, t := range terms {
		s.terms[t] = true
	}
	return nil
}

// of returns the part of text with the most terms of the query, on one printable line,
// with stars around each of these words. Without any of the terms it is the beginning of
// the text.
func (s *snippets) of(text string) string {
	s.marks = s.marks[:0]
	s.tokens.EachAt([]byte(text), func(term []byte, start, end int) {
		if s.terms[string(term)] {
			s.marks = append(s.marks, mark{start, end, string(term)})
		}
	})
	first, last := s.window()
	start, end := 0, 0
	if len(s.marks) > 0 {
		start, end = s.marks[first].start, s.marks[last].end
	}
	start, end = widen(text, start, end)

	var b strings.Builder
	if start > 0 {
		b.WriteString("… ")
	}
	at := start
	for _, m := range s.marks {
		if m.start >= at && m.end <= end {
			b.WriteString(text[at:m.start] + "*" + text[m.start:m.end] + "*")
			at = m.end
		}
	}
	b.WriteString(text[at:end])
	if end < len(text) {
		b.WriteString(" …")
	}
	return terminal.Field(strings.Join(strings.Fields(b.String()), " "))
}

// window returns the range of marks within snippetWidth that has the most distinct terms.
// Ties go to the range with the most marks, then to the first one.
func (s *snippets) window() (first, last int) {
	inside := map[string]int{}
	bestTerms, bestWords, from := 0, 0, 0
	for to, m := range s.marks {
		inside[m.term]++
		for from < to && m.end-s.marks[from].start > snippetWidth {
			left := s.marks[from].term
			if inside[left]--; inside[left] == 0 {
				delete(inside, left)
			}
			from++
		}
		if words := to - from + 1; len(inside) > bestTerms || len(inside) == bestTerms && words > bestWords {
			first, last, bestTerms, bestWords = from, to, len(inside), words
		}
	}
	return first, last
}

// widen extends text[start:end] on both sides up to snippetWidth. It cuts at white space
// if there is any, and otherwise between characters.
func widen(text string, start, end int) (int, int) {
	more := max(snippetWidth-(end-start), 0)
	from := max(start-more/2, 0)
	to := min(end+more-(start-from), len(text))
	from = max(from-(more-(start-from)-(to-end)), 0) // room that the end does not use
	if from > 0 {
		if space := strings.IndexFunc(text[from-1:start], unicode.IsSpace); space >= 0 {
			from += space - 1
		}
		for from < start && !utf8.RuneStart(text[from]) {
			from++
		}
	}
	if to < len(text) {
		if space := strings.LastIndexFunc(text[end:to], unicode.IsSpace); space >= 0 {
			to = end + space
		}
		for to > end && !utf8.RuneStart(text[to]) {
			to--
		}
	}
	return from, to
}
