package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// eachWeighted cuts a query text at its weights: a word followed by ^ and a decimal
// number, up to the next white space, has that weight, and all other text weight 1.
// Weights must be positive and finite.
func eachWeighted(text string, emit func(part string, weight float64)) error {
	for rest := text; rest != ""; {
		caret := strings.IndexByte(rest, '^')
		if caret < 0 {
			emit(rest, 1)
			return nil
		}
		fail := func(reason string) error {
			column := utf8.RuneCountInString(text[:len(text)-len(rest)+caret]) + 1
			return &TextError{text, column, reason}
		}
		word := strings.LastIndexFunc(rest[:caret], unicode.IsSpace) + 1
		if word > 0 { // white space may take several bytes
			_, size := utf8.DecodeRuneInString(rest[word-1:])
			word += size - 1
		}
		if word == caret {
			return fail("a weight needs a word in front")
		}
		end := strings.IndexFunc(rest[caret:], unicode.IsSpace)
		if end < 0 {
			end = len(rest) - caret
		}
		number := rest[caret+1 : caret+end]
		weight, err := strconv.ParseFloat(number, 64)
		if err != nil || !(weight > 0) || math.IsInf(weight, 1) {
			return fail(fmt.Sprintf("weight %q is not a positive number", number))
		}
		if word > 0 {
			emit(rest[:word], 1)
		}
		emit(rest[word:caret], weight)
		rest = rest[caret+end:]
	}
	return nil
}
