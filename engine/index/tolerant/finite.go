package tolerant

import (
	"regexp/syntax"
	"slices"
)

// mostFinite is the most words of an expression that are looked up one by one, and mostLetters their length together.
const mostFinite, mostLetters = 256, 1 << 14

// finite returns all words of an expression, ascending; nil if they are more than mostFinite, or not known.
func finite(r *syntax.Regexp) []string {
	words := wordsOf(r)
	slices.Sort(words)
	return slices.Compact(words)
}

func wordsOf(r *syntax.Regexp) (words []string) {
	switch {
	case r.Op == syntax.OpEmptyMatch:
		return []string{""}
	case r.Op == syntax.OpLiteral && r.Flags&syntax.FoldCase == 0:
		return []string{string(r.Rune)}
	case r.Op == syntax.OpCharClass:
		for i := 0; i < len(r.Rune); i += 2 {
			if r.Rune[i+1]-r.Rune[i] >= mostFinite || len(words) > mostFinite {
				return nil
			}
			for c := r.Rune[i]; c <= r.Rune[i+1]; c++ {
				words = append(words, string(c))
			}
		}
	case r.Op == syntax.OpCapture:
		return wordsOf(r.Sub[0])
	case r.Op == syntax.OpAlternate, r.Op == syntax.OpQuest:
		if r.Op == syntax.OpQuest {
			words = []string{""}
		}
		for _, sub := range r.Sub {
			more := wordsOf(sub)
			if more == nil || len(words)+len(more) > mostFinite {
				return nil
			}
			words = append(words, more...)
		}
	case r.Op == syntax.OpConcat:
		words = []string{""}
		for _, sub := range r.Sub {
			ends := wordsOf(sub)
			if len(words)*len(ends) > mostFinite {
				return nil
			}
			var longer []string
			letters := 0
			for _, w := range words {
				for _, end := range ends {
					longer = append(longer, w+end)
					letters += len(w) + len(end)
				}
			}
			if letters > mostLetters {
				return nil
			}
			words = longer
		}
	}
	return words
}
