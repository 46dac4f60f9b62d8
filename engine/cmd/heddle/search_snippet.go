package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/engine"
	"heddle/engine/index/analyze"
)

// snippetWidth is the length of a snippet in bytes of the text, about.
const snippetWidth = 150

// snippets shows those parts of texts that have terms of a query.
type snippets struct {
	x      *engine.Index
	tokens *analyze.Tokenizer
	terms  map[string]bool // of the query

	marks []mark // of one text
}

// mark is a word of the query in a text.
type mark struct {
	start, end int
	term       string
}

// newSnippets is nil for an index without texts.
func newSnippets(x *engine.Index) (*snippets, error) {
	if !x.File().HasText() {
		return nil, nil
	}
	a, err := analyze.New(x.File().Meta().Analysis)
	if err != nil {
		return nil, err
	}
	return &snippets{x: x, tokens: a.Tokenizer()}, nil
}

// ask says which query the next snippets are for.
func (s *snippets) ask(q engine.Query) error {
	terms := q.Terms
	if q.Text != "" {
		var err error
		if terms, _, err = s.x.WeightedTerms(q.Text); err != nil {
			return err
		}
	}
	s.terms = make(map[string]bool, len(terms))
	for _, t := range terms {
		s.terms[t] = true
	}
	return nil
}

// of is the part of text with the most terms of the query, each word of them
// between stars, on one line that a terminal can show. Where text has none of the
// terms, it is the beginning.
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
	return strings.Join(strings.Fields(printable(b.String())), " ")
}

// window finds the marks, from first to last, that lie within snippetWidth and
// have the most terms; of equal ones those with the most words, then the first.
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

// widen adds text around text[start:end] up to snippetWidth, whole words where
// there is white space, else whole characters.
func widen(text string, start, end int) (int, int) {
	more := max(snippetWidth-(end-start), 0)
	from := max(start-more/2, 0)
	to := min(end+more-(start-from), len(text))
	from = max(from-(more-(start-from)-(to-end)), 0) // what the end did not need
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

// printable is s as a terminal may get it: what is no printable character of
// Unicode, such as a control character or one that changes the direction of
// writing, becomes a space, and what is no UTF-8 the replacement character.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
