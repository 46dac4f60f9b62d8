package syntax

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	long := strings.Repeat("x", 100)
	for text, want := range map[string][2]string{
		"":                          {"", `""`},
		"a\n":                       {"a\n", `"a\n"`},
		long:                        {long, `"` + long + `"`},
		long + "y":                  {long + "…", `"` + long + `"…`},
		long[1:] + "é":              {long[1:] + "…", `"` + long[1:] + `"…`},
		strings.Repeat("\xbf", 200): {strings.Repeat("\xbf", 96) + "…", `"` + strings.Repeat(`\xbf`, 96) + `"…`},
	} {
		if got := [2]string{Short(text), Quote(text)}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzShort: a text stays whole or begins the result, and no character is cut.
func FuzzShort(f *testing.F) {
	f.Add(strings.Repeat("日本", 40))
	f.Fuzz(func(t *testing.T, text string) {
		got, cut := strings.CutSuffix(Short(text), "…")
		if len(got) > mostQuoted || !strings.HasPrefix(text, got) || !cut && got != text {
			t.Errorf("%q became %q", text, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q became %q, which is no UTF-8", text, got)
		}
	})
}
