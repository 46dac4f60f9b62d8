package querylang

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/engine/syntax"
	"heddle/engine/syntax/pattern"
)

// The kinds of tokens.
const (
	end = iota
	word
	prefix
	tolerant // a word that stands for many terms: see Tolerant
	every    // * or title:*
	operator // AND, OR, NOT
	sign     // +, - or !
	opening
	closing
	group // a phrase or a window
)

// lexer has one token in hand.
type lexer struct {
	text   string
	kind   int
	at     int     // where the token begins
	to     int     // and ends
	token  string  // the term, sign or name of the operator
	field  string  // the field before a term, phrase, window or parenthesis; empty: none
	weight float64 // weight behind a term or a closing parenthesis; 0: none
	group  Expr    // a phrase or a window
	places []int   // offsets of its operands
	bare   []int   // offsets of parentheses that are text, ascending
}

// newLexer returns a lexer before the first token.
func newLexer(text string) lexer { return lexer{text: text, bare: bareParentheses(text)} }

// EachWord gives the words of a text without operators to emit, with their weights;
// neighbours of weight 1 may come as one part with their white space. It returns false at the
// first operator, sign, parenthesis, field, prefix or tolerant word, the first error of emit, and an error where
// Parse does.
func EachWord(text string, emit func(part string, weight float64) error) (bool, error) {
	if plain(text) {
		if text == "" {
			return true, nil
		}
		err := emit(text, 1)
		return err == nil, err
	}
	if text[0] == '"' { // a phrase, which Parse reads
		return false, nil
	}
	l := newLexer(text)
	for {
		if err := l.next(); err != nil || l.kind == end {
			return err == nil, err
		}
		if l.kind != word || l.field != "" {
			return false, nil
		}
		if l.weight == 0 {
			l.weight = 1
		}
		if err := emit(l.token, l.weight); err != nil {
			return false, err
		}
	}
}

// HasOperators reports whether a valid text has operators, signs, parentheses, fields, prefixes or tolerant words.
func HasOperators(text string) bool {
	words, err := EachWord(text, func(string, float64) error { return nil })
	return !words && err == nil
}

// Read is Parse for a text with operators, signs, parentheses, fields, prefixes or tolerant words. For a text of words
// alone it returns nil.
func Read(text string, join Op) (*Expr, error) {
	words, err := EachWord(text, func(string, float64) error { return nil })
	if words || err != nil {
		return nil, err
	}
	e, err := Parse(text, join)
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// plain returns true only for a text of words alone, without weights. It is fast.
func plain(text string) bool {
	for op := range operators {
		if strings.Contains(text, op) {
			return false
		}
	}
	start := true // a word may start here
	for i := range len(text) {
		switch text[i] {
		case '(', ')', '"', '\\', '*', '^', '~', '[', '{':
			return false
		case '+', '-', '!', '/':
			if start {
				return false
			}
		case ':', '?':
			if i+1 < len(text) && text[i+1] > ' ' {
				return false
			}
		}
		start = text[i] <= ' ' || text[i] >= utf8.RuneSelf // perhaps white space
	}
	return true
}

// next reads the next token.
func (l *lexer) next() error {
	before := l.to
	l.at, l.weight, l.field = len(l.text), 0, ""
	if n := strings.IndexFunc(l.text[l.to:], func(r rune) bool { return !unicode.IsSpace(r) }); n >= 0 {
		l.at = l.to + n
	}
	if l.at == len(l.text) {
		l.kind, l.to = end, l.at
		return nil
	}
	if n := fieldLen(l.text[l.at:]); n > 0 {
		l.field = l.text[l.at : l.at+n-1]
		l.at += n
		if m := everyField().FindStringSubmatchIndex(l.text[l.at:]); m != nil {
			l.kind, l.to = every, l.at+m[3]
			return l.boost()
		}
	}
	l.to = l.at + 1
	switch c := l.text[l.at]; c {
	case '(', ')':
		if l.isBare(l.at) {
			break
		}
		if l.kind = opening; c == ')' {
			l.kind = closing
			return l.boost()
		}
		return nil
	case '"':
		return l.quoted()
	case '+', '-', '!':
		if l.field == "" && (l.at == 0 || l.at > before || l.text[l.at-1] == '(') && l.signed() {
			l.kind, l.token = sign, string(c)
			return nil
		}
	case '/', '[', '{':
		if n := span(l.text[l.at:]); n > 0 {
			return l.tolerant(l.text[l.at:l.at+n], l.at+n)
		}
	}
	return l.word()
}

// tolerant makes the text up to an offset a tolerant word, which a weight may follow.
func (l *lexer) tolerant(token string, to int) error {
	l.kind, l.to, l.token = tolerant, to, token
	if err := l.bounded(); err != nil {
		return err
	}
	if _, fromEnd, reason := readTolerant(token); reason != "" {
		return &syntax.Error{Text: l.text, Offset: to - fromEnd, Reason: reason}
	}
	return l.boost()
}

// bounded returns an error for a prefix or tolerant word of too many bytes.
func (l *lexer) bounded() error {
	what, most := "a prefix or tolerant word", MaxWord
	if l.kind == tolerant && l.token[0] == '/' {
		what, most = "a regular expression", MaxExpression
	}
	if n := len(l.token); n > most {
		return l.fail(l.at, fmt.Sprintf("%s of %d bytes: at most %d are possible", what, n, most))
	}
	return nil
}

// source returns the text of a wildcard or similar word up to an offset, with a backslash before each other
// character that might mean something.
func (l *lexer) source(to int) string {
	var b strings.Builder
	for text := l.text[l.at:to]; text != ""; {
		r, size := utf8.DecodeRuneInString(text)
		if r == '\\' && len(text) > 1 {
			_, escaped := utf8.DecodeRuneInString(text[1:])
			size += escaped
		} else if !wordRune(r) && r != '*' && r != '?' {
			b.WriteByte('\\')
		}
		b.WriteString(text[:size])
		text = text[size:]
	}
	return b.String()
}

// signed tells whether an operand follows the sign at l.at.
func (l *lexer) signed() bool {
	r, _ := utf8.DecodeRuneInString(l.text[l.to:])
	return r == '(' && !l.isBare(l.to) || r == '\\' || r == '"' || wordRune(r) || span(l.text[l.to:]) > 0 || wildStart().MatchString(l.text[l.to:]) || everySigned().MatchString(l.text[l.to:])
}

// boost reads the weight behind a parenthesis or a tolerant word.
func (l *lexer) boost() error {
	if !strings.HasPrefix(l.text[l.to:], "^") {
		return nil
	}
	n := strings.IndexFunc(l.text[l.to:], func(r rune) bool { return r == '(' || r == ')' || unicode.IsSpace(r) })
	if n < 0 {
		n = len(l.text) - l.to
	}
	if l.weight = weight(l.text[l.to+1 : l.to+n]); l.weight == 0 {
		return l.noWeight(l.to, l.to+n)
	}
	l.to += n
	return nil
}

// noWeight is the error of a ^ whose text up to an offset is no weight.
func (l *lexer) noWeight(caret, to int) error {
	return &syntax.Error{Text: l.text, Offset: caret, Reason: fmt.Sprintf(`the weight %s is no positive decimal number: write \^ for the character`, syntax.Quote(l.text[caret+1:to]))}
}

// weight returns the positive decimal number that text is; 0 if it is none.
func weight(text string) float64 {
	if text == "" || strings.Trim(text, "0123456789.eE+-") != "" || text[0] == '+' {
		return 0
	}
	w, err := strconv.ParseFloat(text, 64)
	if err != nil || !(w > 0) || math.IsInf(w, 1) {
		return 0
	}
	return w
}

// word reads a word, an operator, a prefix, a wildcard or a similar word.
func (l *lexer) word() error {
	var term strings.Builder
	escaped, last := false, ' ' // last: the character before
	letter := false             // so far, or a backslash
	signed := l.kind == sign
	follows := l.kind == word || l.kind == prefix || l.kind == tolerant || l.kind == group || l.kind == closing
	caret, before := -1, rune(' ') // offset of the ^ that may begin a weight, and the character before it
	sure := false                  // it begins a weight
	start, wild := true, false     // a word may start here; so far there is a * or ?
	i := l.at
	for i < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[i:])
		if r == '\\' && i+1 < len(l.text) {
			i++
			_, size = utf8.DecodeRuneInString(l.text[i:])
			term.WriteString(l.text[i : i+size])
			i, escaped, letter, last, start = i+size, true, true, 'a', false
			continue
		}
		if (r == '(' || r == ')') && !l.isBare(i) || unicode.IsSpace(r) {
			break
		}
		if start && span(l.text[i:]) > 0 {
			break
		}
		if r == '~' && i > l.at {
			if n := edits().FindStringSubmatchIndex(l.text[i:]); n != nil {
				return l.tolerant(l.source(i)+l.text[i:i+n[3]], i+n[3])
			}
		}
		if reason := refuse(r, l.text[l.at:i], l.text[i+size:]); reason != "" {
			return &syntax.Error{Text: l.text, Offset: i, Reason: reason}
		}
		start, wild = startsBehind(r, start), wild || r == '*' || r == '?'
		if r == '^' && !sure && (letter || wild) {
			caret, before, sure = i, last, unicode.IsLetter(last) || last == '*'
		}
		letter = letter || unicode.IsLetter(r)
		term.WriteString(l.text[i : i+size])
		i, last = i+size, r
	}
	l.kind, l.to, l.token = word, i, term.String()
	if caret > l.at {
		if l.weight = weight(l.text[caret+1 : i]); l.weight > 0 {
			l.token, last, i = l.token[:len(l.token)-(i-caret)], before, caret
		} else if sure {
			return l.noWeight(caret, i)
		}
	}
	switch {
	case !escaped && l.field == "" && everyWord().MatchString(l.token) && (signed || !follows && behindEvery().MatchString(l.text[l.to:])):
		l.kind = every
	case wild && isWild(l.text[l.at:i]):
		l.kind, l.token = tolerant, l.source(i)
		return l.bounded()
	case last == '*' && strings.Trim(l.token, "*") != "":
		l.kind, l.token = prefix, strings.TrimSuffix(l.token, "*")
		return l.bounded()
	case !escaped && i < len(l.text) && l.text[i] == '(' && window().MatchString(l.token):
		op, at := Near, i-len(l.token)+len("NEAR/")
		if strings.HasPrefix(l.token, "ORDERED") {
			op, at = Ordered, i-len(l.token)+len("ORDERED/")
		}
		return l.windowed(op, at)
	case !escaped && l.weight == 0 && l.field == "" && operators[l.token] != "":
		l.kind, l.token = operator, operators[l.token]
	}
	return nil
}

// refuse returns the reason why the character r, between a part of a word and the rest of
// the text, is an error; "" if it is text.
func refuse(r rune, before, rest string) string {
	switch r {
	case '"':
		return `a phrase begins a word: write white space before the quote, or \" for the character`
	case ':':
		if before != "" && fieldLen(before+":"+rest) > 0 {
			return `a field of a field: write \: for the character`
		}
	}
	return ""
}

// everyWord is the word for all documents, and everySigned such a word behind a sign, with the character behind.
var (
	everyWord   = pattern.New(`^(\*+|\*:\*)$`)
	everySigned = pattern.New(`^(\*+|\*:\*)(?:[\s\p{Z})^]|$)`)
)

// everyField is a * behind the name of a field, with the character behind. More of them mean the same.
var everyField = pattern.New(`^(\*+)(?:[\s\p{Z})^]|$)`)

// fieldLen returns the length of the field, with its colon, that begins a word: a word, phrase, window, parenthesis or
// tolerant word follows directly. 0: there is none.
func fieldLen(word string) int {
	n := syntax.FieldName(word)
	rest, ok := strings.CutPrefix(word[n:], ":")
	if n == 0 || !ok {
		return 0
	}
	n++
	next, _ := utf8.DecodeRuneInString(rest)
	if next == '"' || next == '(' || next == '\\' && len(rest) > 1 || wordRune(next) || span(rest) > 0 || wildStart().MatchString(rest) || everyField().MatchString(rest) {
		return n
	}
	return 0
}

// behindEvery is the text behind a * that means all documents.
var behindEvery = pattern.New(`^[\s\p{Z}]*($|\)|(AND|OR|NOT|&&|\|\|)([\s\p{Z}(]|$)|[-+!][^\s\p{Z}])`)
