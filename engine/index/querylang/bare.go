package querylang

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bareParentheses returns the offsets of the parentheses that are text: without a partner, or with nothing
// but white space between them. Parentheses inside a regular expression or range are parts of it.
func bareParentheses(text string) (bare []int) {
	if !strings.ContainsAny(text, "()") {
		return nil
	}
	var open []int
	last := -1    // offset of the last character that is no white space
	start := true // a word may start here
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		n := 0
		if start {
			i += fieldLen(text[i:])
			r, size = utf8.DecodeRuneInString(text[i:])
			n = span(text[i:])
		}
		start = startsBehind(r, start)
		switch {
		case n > 0:
			size = n
		case r == '\\':
			_, escaped := utf8.DecodeRuneInString(text[i+size:])
			size += escaped
		case r == '"': // parentheses in a phrase are text of the phrase
			size = quotedLen(text[i:])
		case r == '(':
			open = append(open, i)
		case r == ')' && len(open) == 0:
			bare = append(bare, i)
		case r == ')':
			partner := open[len(open)-1]
			if open = open[:len(open)-1]; partner == last {
				bare = append(bare, partner, i)
			}
		}
		if !unicode.IsSpace(r) {
			last = i
		}
		i += size
	}
	bare = append(bare, open...)
	slices.Sort(bare)
	return bare
}

// quotedLen is the length of a phrase that begins a text, with both quotes; 1 without the second one.
func quotedLen(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 1
}

// startsBehind tells whether a word may start behind the character r, and whether before it.
func startsBehind(r rune, before bool) bool {
	switch r {
	case '(', ')':
		return true
	case '+', '-', '!':
		return before
	}
	return unicode.IsSpace(r)
}

func (l *lexer) isBare(at int) bool {
	_, found := slices.BinarySearch(l.bare, at)
	return found
}

// Bare returns the offsets in a query text of the parentheses and signs that look like operators and are
// text in their context: a parenthesis without its partner, parentheses around nothing, and a + or - or ! at
// the start of a word that no operand follows.
func Bare(text string) (at []int) {
	if plain(text) {
		return nil
	}
	l := newLexer(text)
	at = slices.Clone(l.bare)
	for l.next() == nil && l.kind != end {
		if l.kind == word && strings.IndexByte("+-!", l.text[l.at]) >= 0 {
			at = append(at, l.at)
		}
	}
	slices.Sort(at)
	return at
}
