package query

import (
	"fmt"
	"slices"
	"strings"

	"heddle/engine/index/analyze"
	"heddle/engine/index/querylang"
	"heddle/engine/syntax"
)

// Note says which parts of a query text have no effect: that it is empty, all words of a query without documents, of which the
// analysis leaves nothing, or the first sign that is no operator where it stands. It is "" if there is
// nothing to say. The analysis of the index is a; nil splits at white space.
func Note(a *analyze.Analyzer, text string, literal, found bool) string {
	if strings.TrimSpace(text) == "" {
		if found {
			return ""
		}
		return "the query is empty"
	}
	if !found {
		if note := noteVanished(a, text, literal); note != "" {
			return note
		}
	}
	if literal {
		return ""
	}
	return NoteSign(text)
}

// NoteSign names the first sign or parenthesis of a query text that is no operator where it stands, and so
// text; "" without one.
func NoteSign(text string) string {
	at := querylang.Bare(text)
	if len(at) == 0 {
		return ""
	}
	return fmt.Sprintf("the %c at byte %d of the query is no operator there, and so text", text[at[0]], at[0]+1)
}

// Note is the note on a text for the index.
func (x *Index) Note(text string, literal, found bool) string {
	return Note(x.analyzer, text, literal, found)
}

// noteVanished returns "" if a term is left, or there were no words.
func noteVanished(a *analyze.Analyzer, text string, literal bool) string {
	words, err := scoredWords(text, literal)
	if err != nil || a == nil || slices.ContainsFunc(words, func(word string) bool { return len(a.Terms(word)) > 0 }) {
		return ""
	}
	plain, err := prefixAnalyzer(a)
	if err != nil {
		return ""
	}
	var stops, signs []string
	for _, word := range words {
		if len(plain.Terms(word)) > 0 {
			stops = append(stops, word)
		} else {
			signs = append(signs, word)
		}
	}
	var parts []string
	if len(stops) > 0 {
		parts = append(parts, "stop words: "+syntax.Short(strings.Join(stops, " ")))
	}
	if len(signs) > 0 {
		parts = append(parts, "without a letter or digit: "+syntax.Short(strings.Join(signs, " ")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "no word is left; " + strings.Join(parts, "; ")
}

// scoredWords returns the words of a text, without excluded words. It returns none if the text has a prefix or
// tolerant word, or asks for all documents.
func scoredWords(text string, literal bool) (words []string, err error) {
	if literal {
		return strings.Fields(text), nil
	}
	plain, err := querylang.EachWord(text, func(part string, _ float64) error {
		words = append(words, strings.Fields(part)...)
		return nil
	})
	if plain || err != nil {
		return words, err
	}
	e, err := querylang.Parse(text, querylang.Or)
	if err != nil {
		return nil, err
	}
	words = words[:0]
	if !appendScoredWords(&words, &e) {
		return nil, nil
	}
	return words, nil
}

func appendScoredWords(words *[]string, e *querylang.Expr) bool {
	args := e.Args
	switch e.Op {
	case querylang.Prefix, querylang.Expand, querylang.All:
		return false
	case querylang.Term:
		*words = append(*words, strings.Fields(e.Term)...)
	case querylang.Not:
		args = args[:1]
	}
	return !slices.ContainsFunc(args, func(e querylang.Expr) bool { return !appendScoredWords(words, &e) })
}
