package querylang

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/engine/syntax"
	"heddle/engine/syntax/pattern"
)

// MaxDistance is the greatest slop of a phrase and the greatest size of a window.
const MaxDistance = 1<<31 - 1

// window is a word before the parenthesis of a window.
var window = pattern.New(`^(NEAR|ORDERED)/([0-9]+)$`)

// quoted reads a phrase, from its first quote at l.at on.
func (l *lexer) quoted() error {
	if err := l.words('"'); err != nil {
		return err
	}
	l.kind, l.token = group, ""
	l.group.Op, l.group.Distance = Phrase, 0
	if n := l.digits("~"); n > 0 {
		if err := l.distance(l.to+1, l.to+n, 0); err != nil {
			return err
		}
		l.to += n
	} else if strings.HasPrefix(l.text[l.to:], "~") {
		return l.fail(l.to, `the slop of a phrase is a whole number, as in "red loom"~3`)
	}
	return l.boost()
}

// windowed reads a window behind its name, whose parenthesis is at l.to.
func (l *lexer) windowed(op Op, number int) error {
	end := l.to
	if err := l.distance(number, end, 1); err != nil {
		return err
	}
	at, distance := l.at, l.group.Distance
	l.at = end
	err := l.words(')')
	if l.at = at; err != nil {
		return err
	}
	l.kind, l.token, l.group.Op, l.group.Distance = group, "", op, distance
	return l.boost()
}

// digits is the length of a sign and the characters behind it up to white space, a parenthesis, a quote or a ^; 0 without the
// sign or characters behind it.
func (l *lexer) digits(sign string) int {
	rest, ok := strings.CutPrefix(l.text[l.to:], sign)
	if !ok {
		return 0
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return strings.ContainsRune(`()"^`, r) || unicode.IsSpace(r) })
	if n < 0 {
		n = len(rest)
	}
	if n == 0 {
		return 0
	}
	return len(sign) + n
}

// distance reads the slop or the size at text[from:to].
func (l *lexer) distance(from, to int, least uint64) error {
	n, err := strconv.ParseUint(l.text[from:to], 10, 31)
	if err != nil || n < least {
		return l.fail(from, "the distance "+syntax.Quote(l.text[from:to])+" is no whole number from "+strconv.FormatUint(least, 10)+" to 2147483647")
	}
	l.group.Distance = uint32(n)
	return nil
}

// words reads the words of a phrase or window behind the character at l.at, up to the character last.
func (l *lexer) words(last rune) error {
	l.group.Args, l.places = make([]Expr, 0, 6), l.places[:0]
	from, star, escaped, other := -1, false, false, false // begin of a word; its last character is a *; it has a backslash; one is no *
	end := func(to int) {
		if from >= 0 {
			e := Expr{Term: l.text[from:to]}
			if star && other {
				e = Expr{Op: Prefix, Term: e.Term[:len(e.Term)-1]}
			}
			if escaped {
				e.Term = unescape(e.Term)
			}
			l.group.Args, l.places = append(l.group.Args, e), append(l.places, from)
		}
		from, star, escaped, other = -1, false, false, false
	}
	for i := l.at + 1; i < len(l.text); {
		r, size := utf8.DecodeRuneInString(l.text[i:])
		switch {
		case r == last:
			if end(i); len(l.group.Args) == 0 {
				return l.fail(l.at, "nothing between these signs: a phrase or window has words")
			}
			l.to = i + size
			return nil
		case last == ')' && (r == '(' || r == '"'):
			return l.fail(i, "a window has words and prefixes alone")
		case unicode.IsSpace(r):
			end(i)
			i += size
			continue
		case r == '\\' && i+1 < len(l.text):
			_, next := utf8.DecodeRuneInString(l.text[i+1:])
			size += next
			star, escaped, other = false, true, true
		default:
			star = r == '*'
			other = other || !star
		}
		if from < 0 {
			from = i
		}
		i += size
	}
	return l.fail(l.at, `a quote without its partner: write \" for the character`)
}

func (l *lexer) fail(at int, reason string) error {
	return &syntax.Error{Text: l.text, Offset: at, Reason: reason}
}

// writeGroup writes a phrase or a window, without its weight.
func (e Expr) writeGroup(b *strings.Builder) {
	distance := strconv.FormatUint(uint64(e.Distance), 10)
	switch e.Op {
	case Near:
		b.WriteString("NEAR/" + distance + "(")
	case Ordered:
		b.WriteString("ORDERED/" + distance + "(")
	default:
		b.WriteByte('"')
	}
	for i, a := range e.Args {
		if i > 0 {
			b.WriteByte(' ')
		}
		writeTerm(b, a.Term, false)
		if a.Op == Prefix {
			b.WriteByte('*')
		}
	}
	if e.Op != Phrase {
		b.WriteByte(')')
		return
	}
	b.WriteByte('"')
	if e.Distance > 0 {
		b.WriteString("~" + distance)
	}
}

// Positional tells whether e is a phrase or a window.
func (e *Expr) Positional() bool { return e.Op == Phrase || e.Op == Near || e.Op == Ordered }

// HasPrefix tells whether e is a prefix, or a phrase or window with one.
func (e *Expr) HasPrefix() bool {
	for i := range e.Args {
		if e.Positional() && e.Args[i].Op == Prefix {
			return true
		}
	}
	return e.Op == Prefix
}
