// Package snippet finds the part of a text that fits a query best.
package snippet

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/engine/index/analyze"
)

// Finder finds snippets for one query. It is not safe for concurrent use.
type Finder struct {
	tokens  *analyze.Tokenizer
	terms   map[string]int // numbers of the terms that are marked wherever they stand
	phrases []Phrase
	inside  map[string]bool // terms of phrases
	width   int
	words   []word  // the words of the phrases in one text
	marks   []found // the marks in one text
	key     []byte
}

// Field is a field whose text is a part of a text: Tokens of it. Its terms begin with Mark.
type Field struct {
	Mark   string
	Tokens uint32
}

// fieldGap is the distance of the positions of two fields, so that no phrase goes on in the next one.
const fieldGap = 1 << 40

// Snippet is a part of a text: from Start to End, in bytes.
type Snippet struct {
	Start, End int
	// Marks are the words and phrases of the query inside, in order and without overlap.
	Marks []Mark
}

// Mark is a word or phrase of the query, in bytes of the text.
type Mark struct{ Start, End int }

// found is an occurrence of a term or of a phrase.
type found struct {
	Mark
	of int // number of the term, or of the phrase, less 1 and negative
}

// word is a word of a phrase.
type word struct {
	Mark
	position int64
}

// New returns a finder of the index terms and phrases of a query, in texts that tokens analyses as the index
// does. A snippet is about width bytes long.
func New(tokens *analyze.Tokenizer, terms []string, phrases []Phrase, width int) *Finder {
	f := &Finder{tokens: tokens, terms: make(map[string]int, len(terms)), phrases: phrases, inside: map[string]bool{}, width: width}
	for i, t := range terms {
		f.terms[t] = i
	}
	for _, p := range phrases {
		for _, s := range p.Slots {
			for _, t := range s.Terms {
				f.inside[t] = true
			}
		}
	}
	return f
}

// Find returns the part of text with the most different terms and phrases. Without any of them it is the
// beginning of the text. The marks are valid until the next call. Fields are the parts of the text in their order.
func (f *Finder) Find(text string, fields ...Field) (s Snippet) {
	f.marks, f.words = f.marks[:0], f.words[:0]
	var words map[string][]int
	position, last := int64(0), uint32(0) // of the begin of the field, and the number of its tokens so far
	for token := range f.tokens.Tokens([]byte(text)) {
		for len(fields) > 1 && last == fields[0].Tokens {
			fields, position, last = fields[1:], position+fieldGap, 0
		}
		if last++; len(fields) > 0 {
			f.key = append(f.key[:0], fields[0].Mark...)
		}
		f.key = append(f.key, token.Term...)
		m := Mark{token.Start, token.End}
		if i, ok := f.terms[string(f.key)]; ok {
			f.marks = append(f.marks, found{m, i})
		}
		if f.inside[string(f.key)] {
			if words == nil {
				words = map[string][]int{}
			}
			words[string(f.key)] = append(words[string(f.key)], len(f.words))
			f.words = append(f.words, word{m, position + int64(token.Position)})
		}
		f.key = f.key[:0]
	}
	for i := range f.phrases {
		f.addPhrase(i, words)
	}
	slices.SortStableFunc(f.marks, func(a, b found) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	if len(f.marks) > 0 {
		first, last := f.window()
		s.Start = f.marks[first].Start
		for _, m := range f.marks[first : last+1] {
			s.End = max(s.End, m.End)
		}
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

// window returns the range of marks within the width that has the most distinct terms and phrases. Ties go to
// the range with the most marks, then to the first one.
func (f *Finder) window() (first, last int) {
	inside := map[int]int{}
	bestTerms, bestWords, from := 0, 0, 0
	for to, m := range f.marks {
		inside[m.of]++
		for from < to && m.End-f.marks[from].Start > f.width {
			left := f.marks[from].of
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
