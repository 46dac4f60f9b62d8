package query

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode"
)

func parts(text string) (got string, err error) {
	err = eachWeighted(text, func(part string, weight float64) { got += fmt.Sprintf("[%s]%v", part, weight) })
	return got, err
}

func TestEachWeighted(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"heaven and earth", "[heaven and earth]1"},
		{"heaven^2.5", "[heaven]2.5"},
		{"the heaven^2.5 and earth^.5\n", "[the ]1[heaven]2.5[ and ]1[earth]0.5[\n]1"},
		{"a^1e2\u00a0b^3", "[a]100[\u00a0]1[b]3"},
		{"well-being^2", "[well-being]2"},
		{"\u3000é^2", "[\u3000]1[é]2"},
		{"\xff^2", "[\xff]2"},
	} {
		if got, err := parts(test.text); err != nil || got != test.want {
			t.Errorf("%q: %s, %v, want %s", test.text, got, err, test.want)
		}
	}
	for _, test := range []struct {
		text   string
		column int
		reason string
	}{
		{"^2", 1, "a weight needs a word in front"},
		{"a ^2", 3, "a weight needs a word in front"},
		{"a^", 2, `weight "" is not a positive number`},
		{"é^x", 2, `weight "x" is not a positive number`},
		{"a^1 b^0", 6, `weight "0" is not a positive number`},
		{"a^-1", 2, `weight "-1" is not a positive number`},
		{"a^nan", 2, `weight "nan" is not a positive number`},
		{"a^inf", 2, `weight "inf" is not a positive number`},
		{"a^1e999", 2, `weight "1e999" is not a positive number`},
		{"a^2^3", 2, `weight "2^3" is not a positive number`},
	} {
		_, err := parts(test.text)
		if e, ok := errors.AsType[*TextError](err); !ok || *e != (TextError{test.text, test.column, test.reason}) {
			t.Errorf("%q: %v", test.text, err)
		}
	}
}

// FuzzEachWeighted: the parts hold all of a text but its weights, in order, and a
// column lies inside it.
func FuzzEachWeighted(f *testing.F) {
	for _, text := range []string{"", "heaven^2.5 earth", "a^", "^", "a^1 b^2", "\xff^1\u3000\u0085b^0x1p3", "a^2^2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest := text
		err := eachWeighted(text, func(part string, weight float64) {
			if part == "" || !(weight > 0) || math.IsInf(weight, 1) {
				t.Errorf("part %q of weight %v", part, weight)
			}
			at := strings.Index(rest, part)
			if at < 0 || at > 0 && rest[0] != '^' || strings.ContainsFunc(rest[:at], unicode.IsSpace) {
				t.Errorf("part %q behind %q", part, rest[:max(at, 0)])
			}
			rest = rest[at+len(part):]
		})
		if e, ok := errors.AsType[*TextError](err); ok != (err != nil) || ok && (e.Column < 1 || e.Column > len(text)) {
			t.Errorf("%v", err)
		}
		if err == nil && rest != "" && rest[0] != '^' {
			t.Errorf("%q got lost", rest)
		}
	})
}
