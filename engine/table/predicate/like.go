package predicate

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// pattern is a pattern of LIKE, character by character.
type pattern []element

// element is a character of a pattern: text, any character (one), or any number of
// characters (many).
type element struct {
	text      string
	one, many bool
}

// parsePattern reads a pattern. The character escape, unless it is empty, makes the next
// character plain.
func parsePattern(text, escape string) (p pattern, err error) {
	for text != "" {
		_, n := utf8.DecodeRuneInString(text)
		c := text[:n]
		if text = text[n:]; c == escape {
			if text == "" {
				return nil, errors.New("the pattern ends in its escape character")
			}
			_, n = utf8.DecodeRuneInString(text)
			c, text = text[:n], text[n:]
			p = append(p, element{text: c})
			continue
		}
		p = append(p, element{text: c, one: c == "_", many: c == "%"})
	}
	return p, nil
}

// prefix is the plain text at the start of the pattern.
func (p pattern) prefix() string {
	var b strings.Builder
	for _, e := range p {
		if e.one || e.many {
			break
		}
		b.WriteString(e.text)
	}
	return b.String()
}

// matches reports whether the pattern describes the whole of s.
func (p pattern) matches(s string) bool {
	from, to := -1, 0 // behind the last many, and the text that it covers at least
	at := 0
	for i := 0; i < len(s); {
		if at < len(p) && p[at].many {
			at++
			from, to = at, i
			continue
		}
		if n := p.take(at, s[i:]); n > 0 {
			i += n
			at++
			continue
		}
		if from < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[to:])
		to += n
		at, i = from, to
	}
	for at < len(p) && p[at].many {
		at++
	}
	return at == len(p)
}

// take is the number of bytes of s that element at covers, 0 if it does not fit.
func (p pattern) take(at int, s string) int {
	if at == len(p) {
		return 0
	}
	if p[at].one {
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	if strings.HasPrefix(s, p[at].text) {
		return len(p[at].text)
	}
	return 0
}
