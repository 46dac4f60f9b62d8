// Package token cuts predicates and select lists into names, keywords, numbers, texts and
// symbols.
package token

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// Kind is the kind of a Token.
type Kind uint8

const (
	End     Kind = iota
	Name         // name of a column
	Keyword      // in capitals
	Number
	Text
	Symbol // a comparison, or one of Lexer.Symbols
)

// Token is a part of a text.
type Token struct {
	Kind Kind
	Text string // text of the token, without quotes
	At   int    // offset of the first byte
	To   int    // offset behind the last byte
}

// Lexer cuts a text into tokens. The embedded Token is the token that Next has read last.
type Lexer struct {
	Source  string
	Symbols string       // characters that are tokens by themselves
	Ended   func() error // called now and then; its error ends Next. nil: never
	Token
	tokens int // so far
}

// Comparisons are the operators that compare two values.
var Comparisons = map[string]column.Op{
	"=": column.Eq, "==": column.Eq, "<>": column.Ne, "!=": column.Ne,
	"<": column.Lt, "<=": column.Le, ">": column.Gt, ">=": column.Ge,
}

var keywords = map[string]bool{"AND": true, "OR": true, "NOT": true, "BETWEEN": true, "IN": true, "IS": true, "LIKE": true, "NULL": true, "TRUE": true, "FALSE": true}

const endedEvery = 1024 // tokens between two calls of Ended

// Next reads the token behind the last one.
func (l *Lexer) Next() error {
	if l.tokens++; l.Ended != nil && l.tokens%endedEvery == 0 {
		if err := l.Ended(); err != nil {
			return err
		}
	}
	if err := l.skipBlanks(); err != nil {
		return err
	}
	if l.At == len(l.Source) {
		l.Kind, l.Token.Text, l.To = End, "", l.At
		return nil
	}
	switch c := l.Source[l.At]; {
	case c == '\'' || c == '"':
		return l.quoted(c)
	case strings.IndexByte(l.Symbols, c) >= 0:
		l.take(Symbol, l.At+1)
	case strings.IndexByte("<>=!", c) >= 0:
		return l.comparison()
	case isDigit(c) || strings.IndexByte("+-.", c) >= 0:
		return l.number()
	case startsName(l.Source, l.At):
		l.take(Name, nameEnd(l.Source, l.At))
		if word := strings.ToUpper(l.Token.Text); keywords[word] {
			l.Kind, l.Token.Text = Keyword, word
		}
	default:
		return l.Fail(l.At, "a character that has no meaning here: names with such characters go in \"double quotes\", texts in 'single quotes'")
	}
	return nil
}

// skipBlanks moves at behind blanks and comments: -- to the end of the line, and /* to */.
func (l *Lexer) skipBlanks() error {
	l.At = l.To
	for {
		rest := strings.TrimLeftFunc(l.Source[l.At:], unicode.IsSpace)
		l.At = len(l.Source) - len(rest)
		switch {
		case strings.HasPrefix(rest, "--"):
			line, _, _ := strings.Cut(rest, "\n")
			l.At += len(line)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return l.Fail(l.At, "a comment that does not end")
			}
			l.At += n + 4
		default:
			return nil
		}
	}
}

// take makes the token of the text up to to.
func (l *Lexer) take(k Kind, to int) {
	l.Kind, l.Token.Text, l.To = k, l.Source[l.At:to], to
}

// quoted reads a text or a name; a quote in it is written twice.
func (l *Lexer) quoted(quote byte) error {
	var b strings.Builder
	for i := l.At + 1; i < len(l.Source); i++ {
		if c := l.Source[i]; c != quote {
			b.WriteByte(c)
			continue
		}
		if i++; i < len(l.Source) && l.Source[i] == quote {
			b.WriteByte(quote)
			continue
		}
		l.Kind, l.Token.Text, l.To = Text, b.String(), i
		if quote == '"' {
			l.Kind = Name
		}
		return nil
	}
	return l.Fail(l.At, "a quote that does not end")
}

func (l *Lexer) comparison() error {
	to := l.At
	for to < len(l.Source) && strings.IndexByte("<>=!", l.Source[to]) >= 0 {
		to++
	}
	l.take(Symbol, to)
	if _, ok := Comparisons[l.Token.Text]; !ok {
		return l.Fail(l.At, fmt.Sprintf("%s is no comparison: = <> < <= > >= are", l.Token.Text))
	}
	return nil
}

// number reads [+-]digits[.digits][e[+-]digits], with a digit before or behind the
// point.
func (l *Lexer) number() error {
	i := l.At
	skip := func(set string, most int) (n int) {
		for n < most && i < len(l.Source) && strings.IndexByte(set, l.Source[i]) >= 0 {
			i++
			n++
		}
		return n
	}
	const digits = "0123456789"
	skip("+-", 1)
	n := skip(digits, len(l.Source))
	if skip(".", 1) > 0 {
		n += skip(digits, len(l.Source))
	}
	if n == 0 {
		return l.Fail(l.At, "a number is expected here")
	}
	if skip("eE", 1) > 0 {
		if skip("+-", 1); skip(digits, len(l.Source)) == 0 {
			return l.Fail(l.At, "a number whose exponent has no digits")
		}
	}
	if l.take(Number, i); i < len(l.Source) && (l.Source[i] == '.' || nameEnd(l.Source, i) > i) {
		return l.Fail(l.At, "a number that goes on with other characters")
	}
	return nil
}

// Fail is the error for a fault at an offset of the text.
func (l *Lexer) Fail(at int, reason string) error {
	return &syntax.Error{Text: l.Source, Offset: at, Reason: reason}
}

// Is reports whether the token is a keyword or a symbol.
func (l *Lexer) Is(word string) bool {
	return (l.Kind == Keyword || l.Kind == Symbol) && l.Token.Text == word
}

// Accept passes a keyword or a symbol, if that is the token.
func (l *Lexer) Accept(word string) (bool, error) {
	if !l.Is(word) {
		return false, nil
	}
	return true, l.Next()
}

// Expect passes a keyword or a symbol that must be there.
func (l *Lexer) Expect(word string) error {
	if !l.Is(word) {
		return l.Fail(l.At, word+" is expected here")
	}
	return l.Next()
}

// WriteName writes the name of a column, in double quotes if it is no plain word.
func WriteName(b *strings.Builder, name string) {
	if startsName(name, 0) && nameEnd(name, 0) == len(name) && !keywords[strings.ToUpper(name)] {
		b.WriteString(name)
		return
	}
	WriteQuoted(b, '"', name)
}

// WriteQuoted writes text between quotes, and each quote in it twice.
func WriteQuoted(b *strings.Builder, quote byte, text string) {
	q := string(quote)
	b.WriteString(q + strings.ReplaceAll(text, q, q+q) + q)
}

// nameEnd is where the letters, digits and _ from text[from] on end.
func nameEnd(text string, from int) int {
	for i, r := range text[from:] {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return from + i
		}
	}
	return len(text)
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// startsName reports whether a name begins at text[at].
func startsName(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return r == '_' || unicode.IsLetter(r)
}
