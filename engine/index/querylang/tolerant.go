package querylang

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	errors "heddle/engine/syntax"

	"heddle/engine/syntax/pattern"
)

// Tolerant is a word that stands for all terms of an index of a form.
type Tolerant struct {
	Form Form
	// Words are of a Similar the word; of a Wildcard the texts around its wildcards, which may be empty; of a
	// Regexp the expression; of a Range its ends, where "" is open.
	Words []string
	Wild  []string // of a Wildcard: each is some of * and ?, between Words
	Edits int      // of a Similar: the most edits, 1 or 2
	Fixed int      // of a Similar: the number of first characters that terms have in common with it; -1: not given
	Open  [2]bool  // of a Range: its ends are not in it
}

// Form is the form of a tolerant word.
type Form uint8

// The forms.
const (
	Similar  Form = iota // loom~, loom~1, loom~2,3
	Wildcard             // te?t, *ing, b*n*
	Regexp               // /b.ne/
	Range                // [a TO b], {a TO b}, [a TO *}
)

// Tolerance is the characters one of which a text with prefixes or tolerant words has.
const Tolerance = "*?~/[{"

// MostEdits is the number of edits of a similar word that names none, and the most.
const MostEdits = 2

// ReadTolerant reads a tolerant word, as Expr.Term of an Expand. An error is a *syntax.Error.
func ReadTolerant(text string) (t Tolerant, err error) {
	l := newLexer(text)
	if err := l.next(); err != nil {
		return t, err
	}
	if l.kind != tolerant || l.at > 0 || l.to < len(text) || l.weight != 0 {
		return t, &errors.Error{Text: text, Reason: "no similar word, wildcard, regular expression or range"}
	}
	t, _, _ = readTolerant(l.token)
	return t, nil
}

// WithFixed returns a tolerant word with a number of first characters that similar words have in common with it, unless it
// names one.
func WithFixed(text string, fixed int) string {
	if fixed == 0 {
		return text
	}
	if t, err := ReadTolerant(text); err != nil || t.Form != Similar || t.Fixed >= 0 {
		return text
	}
	return text + "," + strconv.Itoa(fixed)
}

// Position returns the offset in a text of the prefix or tolerant word that e is, maybe without its field; 0 if it is not
// there.
func Position(text string, e *Expr) int {
	l := newLexer(text)
	for l.next() == nil && l.kind != end {
		if (l.kind == tolerant && e.Op == Expand || l.kind == prefix && e.Op == Prefix) && l.token == e.Term && (l.field == "" || l.field == e.Field) {
			return l.at
		}
		if l.kind == group && (l.field == "" || l.field == e.Field) {
			for i, a := range l.group.Args {
				if a.Op == e.Op && a.Term == e.Term {
					return l.places[i]
				}
			}
		}
	}
	return 0
}

var (
	// expression and bounds are the texts of a regular expression and of a range, with the character behind.
	expression = pattern.New(`^(/(?:[^\s\p{Z}/\\]|\\.)+/)(?:[\s\p{Z})^]|$)`)
	bounds     = pattern.New(`^([\[{][\s\p{Z}]*((?:[^\s\p{Z}\[\]{}\\]|\\.)+)[\s\p{Z}]+TO[\s\p{Z}]+((?:[^\s\p{Z}\[\]{}\\]|\\.)+)[\s\p{Z}]*[\]}])(?:[\s\p{Z}()^]|$)`)
	// edits is the end of a similar word, with the character behind.
	edits = pattern.New(`^(~([0-9.]*)(?:,([0-9]+))?)(?:[\s\p{Z}()^]|$)`)
	// wildStart begins a word with a wildcard in front.
	wildStart = pattern.New(`^[*?]+[\pL\pN\pM_\\]`)
)

// span returns the length of the regular expression or range that text begins with; 0 without one.
func span(text string) int {
	var m []int
	switch {
	case text == "":
	case text[0] == '/':
		m = expression().FindStringSubmatchIndex(text)
	case text[0] == '[' || text[0] == '{':
		m = bounds().FindStringSubmatchIndex(text)
	}
	if m == nil {
		return 0
	}
	return m[3]
}

// isWild tells whether a word has a wildcard: a * that is not behind the word, a ? inside of the word or in front
// of it, or both of them behind it.
func isWild(word string) bool {
	inside := true // a ? here is inside of the word, or in front of it
	for i := 0; i < len(word); {
		if n := len(word[i:]) - len(strings.TrimLeft(word[i:], "*?")); n > 0 {
			run := word[i : i+n]
			next, _ := utf8.DecodeRuneInString(word[i+n:])
			star := strings.Contains(run, "*")
			if (next == '\\' || wordRune(next)) && (star || inside) || i+n == len(word) && i > 0 && star && strings.Contains(run, "?") {
				return true
			}
			i, inside = i+n, false
			continue
		}
		r, size := utf8.DecodeRuneInString(word[i:])
		if inside = wordRune(r); r == '\\' && i+1 < len(word) {
			_, escaped := utf8.DecodeRuneInString(word[i+1:])
			size, inside = 1+escaped, true
		}
		i += size
	}
	return false
}

// readTolerant reads a tolerant word. An error has a distance from the end of the word and a reason.
func readTolerant(text string) (t Tolerant, fromEnd int, reason string) {
	switch text[0] {
	case '/':
		if n := span(text); n == len(text) {
			return readRegexp(text[1 : n-1])
		}
	case '[', '{':
		if m := bounds().FindStringSubmatch(text); m != nil && m[1] == text {
			t, reason = readRange(m[2], m[3], text[0] == '{', text[len(text)-1] == '}')
			return t, len(text), reason
		}
	}
	if i := similarEnd(text); i > 0 {
		return readSimilar(text, i)
	}
	t = Tolerant{Form: Wildcard, Words: []string{""}}
	for i := 0; i < len(text); {
		n := len(text[i:]) - len(strings.TrimLeft(text[i:], "*?"))
		if n > 0 {
			t.Words, t.Wild = append(t.Words, ""), append(t.Wild, text[i:i+n])
			i += n
			continue
		}
		n = strings.IndexAny(text[i:], `*?\`)
		if n < 0 {
			n = len(text) - i
		}
		last := &t.Words[len(t.Words)-1]
		*last += text[i : i+n]
		if i += n; i+1 < len(text) && text[i] == '\\' {
			_, n = utf8.DecodeRuneInString(text[i+1:])
			*last += text[i+1 : i+1+n]
			i += 1 + n
		} else if i < len(text) && text[i] == '\\' {
			*last += `\`
			i++
		}
	}
	return t, 0, ""
}

// similarEnd returns the offset of the ~ of a similar word; 0 if text is none.
func similarEnd(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		} else if m := edits().FindStringIndex(text[i:]); m != nil && i+m[1] == len(text) {
			return i
		}
	}
	return 0
}

func readSimilar(text string, at int) (t Tolerant, fromEnd int, reason string) {
	fromEnd = len(text) - at
	m := edits().FindStringSubmatch(text[at:])
	t = Tolerant{Form: Similar, Words: []string{unescape(text[:at])}, Edits: MostEdits, Fixed: -1}
	if isWild(text[:at]) || strings.HasSuffix(text[:at], "*") {
		return t, fromEnd, `a wildcard has no similar words: write \~ for the character`
	}
	if m[2] != "" {
		n, err := strconv.Atoi(m[2])
		if err != nil || n < 1 || n > MostEdits {
			return t, fromEnd, fmt.Sprintf(`%s edits: write ~1 or ~2 for similar words, or \~ for the character`, m[2])
		}
		t.Edits = n
	}
	if m[3] != "" {
		n, err := strconv.Atoi(m[3])
		if err != nil || n > MaxFixed {
			return t, fromEnd, fmt.Sprintf("%s first characters: at most %d", m[3], MaxFixed)
		}
		t.Fixed = n
	}
	return t, 0, ""
}

// MaxFixed is the greatest Tolerant.Fixed.
const MaxFixed = 1 << 15

func readRegexp(expr string) (t Tolerant, fromEnd int, reason string) {
	t = Tolerant{Form: Regexp, Words: []string{expr}}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	fromEnd = len(expr) + 2
	if err != nil {
		return t, fromEnd, strings.TrimPrefix(err.Error(), "error parsing regexp: ") + `: write \/ for the character`
	}
	return t, fromEnd, refuseRegexp(parsed)
}

// refuseRegexp returns the reason why an expression cannot be compared with whole terms; "" if it can.
func refuseRegexp(r *syntax.Regexp) string {
	switch r.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return "a regular expression is compared with whole terms: omit ^, $, \\A and \\z"
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return "a regular expression is compared with whole terms: omit \\b and \\B"
	case syntax.OpNoMatch, syntax.OpCharClass:
		if len(r.Rune) > 0 {
			return ""
		}
		return "a regular expression that no term matches"
	}
	for _, sub := range r.Sub {
		if reason := refuseRegexp(sub); reason != "" {
			return reason
		}
	}
	return ""
}

func readRange(low, high string, above, below bool) (t Tolerant, reason string) {
	t = Tolerant{Form: Range, Words: []string{low, high}, Open: [2]bool{above, below}}
	for i, w := range t.Words {
		if w == "*" {
			t.Words[i] = ""
		} else {
			t.Words[i] = unescape(w)
		}
	}
	if !slices.Contains(t.Words, "") && low > high {
		return t, fmt.Sprintf("a range whose first term %s is behind its last term %s", errors.Quote(low), errors.Quote(high))
	}
	return t, ""
}

// unescape removes the backslashes before characters.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
