package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for s, want := range map[string]string{
		"":                       "",
		`C:\temp "a" 'b'`:        `C:\temp "a" 'b'`,
		"a\tb\nc\rd":             `a\tb\nc\rd`,
		"\x1b[31mred\x1b]0;x\a":  `\x1b[31mred\x1b]0;x\a`,
		"\x00\x7f\u009b31m":      `\x00\x7f\u009b31m`,
		"a\u202eb\u2066c\u200ed": `a\u202eb\u2066c\u200ed`,
		"x\u2028y\u2029":         `x\u2028y\u2029`,
		"\xff\xc3(":              `\xff\xc3(`,
		"é 日本 ภาษา عربى\u00a0\u3000👨\u200d👩 \ufffd": "é 日本 ภาษา عربى\u00a0\u3000👨\u200d👩 \ufffd",
	} {
		if got := Field(s); got != want {
			t.Errorf("Field(%q) = %q, want %q", s, got, want)
		}
		text := strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(want)
		if strings.Contains(s, `C:\temp`) {
			text = s
		}
		if got := Text(s); got != text {
			t.Errorf("Text(%q) = %q, want %q", s, got, text)
		}
		var b bytes.Buffer
		if n, err := fmt.Fprint(Writer(&b), s); n != len(s) || err != nil || b.String() != text {
			t.Errorf("%q: %d bytes, %v, wrote %q", s, n, err, b.String())
		}
	}
	broken := errors.New("broken")
	if _, err := Writer(failing{broken}).Write([]byte("a")); err != broken {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (w failing) Write([]byte) (int, error) { return 0, w.err }

// FuzzField: a field is valid UTF-8 without control characters, and text without unsafe
// characters stays as it is.
func FuzzField(f *testing.F) {
	for _, s := range []string{"a", "\x1b[0m\n", "\u202e\xff", "日本\u0085"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Field(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u202e' }) {
			t.Fatalf("%q gives %q", s, got)
		}
		if Field(got) != got {
			t.Fatalf("%q gives %q, then %q", s, got, Field(got))
		}
	})
}
