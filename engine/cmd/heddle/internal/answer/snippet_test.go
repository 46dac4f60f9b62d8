package answer

import (
	"html"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"heddle/engine/cmd/heddle/internal/terminal"
)

func TestSnippet(t *testing.T) {
	for given, want := range map[string][2]string{
		"":                                   {"", ""},
		"The <b>loom</b>, and\tthe\nthread.": {"The *loom*, and the thread.", "The \x1b[1mloom\x1b[22m, and the thread."},
		"… &lt;b&gt; &amp;lt; <b>a</b> &#34;&#39; …":       {"… <b> &lt; *a* \"' …", "… <b> &lt; \x1b[1ma\x1b[22m \"' …"},
		"a\x1b[31m <b>loom</b>\x07 \u202e &#27; \u2066b\r": {`a\x1b[31m *loom*\a \u202e &#27; \u2066b`, "a\\x1b[31m \x1b[1mloom\x1b[22m\\a \\u202e &#27; \\u2066b"},
	} {
		for i, bold := range []bool{false, true} {
			if got := (&Writer{Bold: bold}).snippet(given); got != want[i] {
				t.Errorf("%q, bold %v: %q, want %q", given, bold, got, want[i])
			}
		}
	}
}

// TestSnippetProperties: a snippet of any text is one printable line with all characters of the text.
func TestSnippetProperties(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"loom", "<b>", "</b>", "&lt;", "&", ";", "'", `"`, " ", "\n", "東京", "\x1b[0m", "\xff", "\u202e", "é"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "pieces"), "")
		got := (&Writer{}).snippet(html.EscapeString(text))
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q cannot be shown", got)
		}
		if want := terminal.Field(strings.Join(strings.Fields(text), " ")); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
