package predicate

import (
	"fmt"
	"strings"
	"unicode"

	"heddle/engine/syntax"
)

// kind is the kind of a token.
type kind uint8

const (
	end     kind = iota
	name         // of a column
	keyword      // in capitals
	number
	text
	symbol // a parenthesis, a comma or a comparison
)

type token struct {
	kind kind
	text string // without quotes
	at   int
	to   int
}

// lexer cuts a text into tokens.
type lexer struct {
	text string
	token
}

// next reads the token behind the last one.
func (l *lexer) next() error {
	if err := l.skipBlanks(); err != nil {
		return err
	}
	if l.at == len(l.text) {
		l.kind, l.token.text, l.to = end, "", l.at
		return nil
	}
	switch c := l.text[l.at]; {
	case c == '\'' || c == '"':
		return l.quoted(c)
	case strings.IndexByte("(),", c) >= 0:
		l.take(symbol, l.at+1)
	case strings.IndexByte("<>=!", c) >= 0:
		return l.comparison()
	case isDigit(c) || strings.IndexByte("+-.", c) >= 0:
		return l.number()
	case startsName(l.text, l.at):
		l.take(name, nameEnd(l.text, l.at))
		if word := strings.ToUpper(l.token.text); keywords[word] {
			l.kind, l.token.text = keyword, word
		}
	default:
		return l.fail(l.at, "a character that has no meaning here: names with such characters go in \"double quotes\", texts in 'single quotes'")
	}
	return nil
}

// skipBlanks moves at behind blanks and comments: -- to the end of the line, and /* to */.
func (l *lexer) skipBlanks() error {
	l.at = l.to
	for {
		rest := strings.TrimLeftFunc(l.text[l.at:], unicode.IsSpace)
		l.at = len(l.text) - len(rest)
		switch {
		case strings.HasPrefix(rest, "--"):
			line, _, _ := strings.Cut(rest, "\n")
			l.at += len(line)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return l.fail(l.at, "a comment that does not end")
			}
			l.at += n + 4
		default:
			return nil
		}
	}
}

// take makes the token of the text up to to.
func (l *lexer) take(k kind, to int) {
	l.kind, l.token.text, l.to = k, l.text[l.at:to], to
}

// quoted reads a text or a name; a quote in it is written twice.
func (l *lexer) quoted(quote byte) error {
	var b strings.Builder
	for i := l.at + 1; i < len(l.text); i++ {
		if c := l.text[i]; c != quote {
			b.WriteByte(c)
			continue
		}
		if i++; i < len(l.text) && l.text[i] == quote {
			b.WriteByte(quote)
			continue
		}
		l.kind, l.token.text, l.to = text, b.String(), i
		if quote == '"' {
			l.kind = name
		}
		return nil
	}
	return l.fail(l.at, "a quote that does not end")
}

func (l *lexer) comparison() error {
	to := l.at
	for to < len(l.text) && strings.IndexByte("<>=!", l.text[to]) >= 0 {
		to++
	}
	l.take(symbol, to)
	if _, ok := comparisons[l.token.text]; !ok {
		return l.fail(l.at, fmt.Sprintf("%s is no comparison: = <> < <= > >= are", l.token.text))
	}
	return nil
}

// number reads [+-]digits[.digits][e[+-]digits], with a digit before or behind the
// point.
func (l *lexer) number() error {
	i := l.at
	skip := func(set string, most int) (n int) {
		for n < most && i < len(l.text) && strings.IndexByte(set, l.text[i]) >= 0 {
			i++
			n++
		}
		return n
	}
	const digits = "0123456789"
	skip("+-", 1)
	n := skip(digits, len(l.text))
	if skip(".", 1) > 0 {
		n += skip(digits, len(l.text))
	}
	if n == 0 {
		return l.fail(l.at, "a number is expected here")
	}
	if skip("eE", 1) > 0 {
		if skip("+-", 1); skip(digits, len(l.text)) == 0 {
			return l.fail(l.at, "a number whose exponent has no digits")
		}
	}
	if l.take(number, i); i < len(l.text) && (l.text[i] == '.' || nameEnd(l.text, i) > i) {
		return l.fail(l.at, "a number that goes on with other characters")
	}
	return nil
}

func (l *lexer) fail(at int, reason string) error {
	return &syntax.Error{Text: l.text, Offset: at, Reason: reason}
}
