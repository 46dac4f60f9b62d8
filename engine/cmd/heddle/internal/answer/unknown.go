package answer

import (
	"slices"
	"strings"

	"heddle/engine"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
)

// wordsOf puts a word in the place of its terms in all fields of a query. A word that one of the fields has is not unknown.
// Known and unknown are distinct terms of the query.
func wordsOf(asked *engine.Query, st *engine.Statistics, known, unknown []string) (words []string) {
	in := map[string]bool{}
	for _, f := range st.Fields {
		in[f.Name] = true
	}
	if fields, err := querylang.ParseFields(asked.QueryFields); err == nil && len(fields) > 0 {
		clear(in)
		for _, f := range fields {
			in[f.Name] = true
		}
	}
	if len(in) < 2 {
		return unknown
	}
	number, found := map[string]int{}, map[string]bool{} // by word
	for i, t := range slices.Concat(known, unknown) {
		if field, word, ok := strings.Cut(t, bm25.FieldMark); ok && in[field] {
			number[word]++
			found[word] = found[word] || i < len(known)
		}
	}
	for _, t := range unknown {
		field, word, ok := strings.Cut(t, bm25.FieldMark)
		if !ok || !in[field] || number[word] < len(in) {
			words = append(words, t)
		} else if !found[word] {
			words, found[word] = append(words, word), true // once
		}
	}
	slices.Sort(words)
	return words
}

// similar adds similar terms to the words that no document has.
func similar(unknown []string, all []engine.Correction) {
	for i, word := range unknown {
		var terms []string
		for _, c := range all {
			_, bare, _ := strings.Cut(c.Word, bm25.FieldMark)
			if c.Word == word || bare == word {
				terms = append(terms, c.Similar())
			}
		}
		if len(terms) > 0 {
			unknown[i] += " (similar: " + strings.Join(terms, ", ") + ")"
		}
	}
}
