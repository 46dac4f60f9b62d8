// Package snippet finds the part of a text that fits a query best.
package snippet

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/engine/index/analyze"
)

// Finder finds snippets for one query. It is not safe for concurrent use.
type Finder struct {
	tokens *analyze.Tokenizer
	terms  map[string]bool
	width  int
	marks  []found // the words of the query in one text
}

// Snippet is a part of a text: from Start to End, in bytes.
type Snippet struct {
	Start, End int
	// Marks are the words of the query inside, in order and without overlap.
	Marks []Mark
}

// Mark is a word of the query, in bytes of the text.
type Mark struct{ Start, End int }

// found is an occurrence of a term.
type found struct {
	Mark
	term string
}

// New returns a finder of the index terms of a query, in texts that tokens analyses as the index
// does. A snippet is about width bytes long.
func New(tokens *analyze.Tokenizer, terms []string, width int) *Finder {
	f := &Finder{tokens: tokens, terms: make(map[string]bool, len(terms)), width: width}
	for _, t := range terms {
		f.terms[t] = true
	}
	return f
}

// Find returns the part of text with the most different terms. Without any of the terms it is the
// beginning of the text. The marks are valid until the next call.
func (f *Finder) Find(text string) (s Snippet) {
	f.marks = f.marks[:0]
	for token := range f.tokens.Tokens([]byte(text)) {
		if f.terms[string(token.Term)] {
			f.marks = append(f.marks, found{Mark{token.Start, token.End}, string(token.Term)})
		}
	}
	if len(f.marks) > 0 {
		first, last := f.window()
		s.Start, s.End = f.marks[first].Start, f.marks[last].End
	}
	s.Start, s.End = f.widen(text, s.Start, s.End)
	for _, m := range f.marks {
		if m.Start < s.Start || m.End > s.End {
			continue
		}
		if last := len(s.Marks) - 1; last >= 0 && m.Start < s.Marks[last].End { // a pair of clusters overlaps the next
			s.Marks[last].End = max(s.Marks[last].End, m.End)
		} else {
			s.Marks = append(s.Marks, m.Mark)
		}
	}
	return s
}

// window returns the range of marks within the width that has the most distinct terms. Ties go to
// the range with the most marks, then to the first one.
func (f *Finder) window() (first, last int) {
	inside := map[string]int{}
	bestTerms, bestWords, from := 0, 0, 0
	for to, m := range f.marks {
		inside[m.term]++
		for from < to && m.End-f.marks[from].Start > f.width {
			left := f.marks[from].term
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

// widen extends text[start:end] on both sides up to the width. It cuts at white space
// if there is any, and otherwise between characters.
func (f *Finder) widen(text string, start, end int) (int, int) {
	more := max(f.width-(end-start), 0)
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
