package answer

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/analyze"
	"heddle/engine/index/snippet"
)

func snippetsOf(t interface{ Fatal(...any) }, settings analyze.Settings, terms ...string) *snippets {
	a, err := analyze.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	return &snippets{find: snippet.New(a.Tokenizer(), terms, snippetWidth)}
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("other words of no use ", 20)
	for _, test := range []struct{ name, text, want string }{
		{"short text", "The loom, and\tthe\nLoom's thread.", "The *loom*, and the Loom's thread."},
		{"no term", "Nothing to see.", "Nothing to see."},
		{"empty", "", ""},
		{"most terms", "loom loom loom " + filler + " warp of the loom " + filler + "loom",
			"… other words of no use other words of no use other words of no use *warp* of the *loom* other words of no use other words of no use other words of no use …"},
		{"at the end", filler + "the warp", "… " + filler[len(filler)-142:] + "the *warp*"},
		{"control characters", "a\x1b[31m loom\x07 \u202e warp \u2066b\u200b\r", "a\\x1b[31m *loom*\\a \\u202e *warp* \\u2066b\u200b"},
		{"no UTF-8", "a\xff loom \xc3", `a\xff *loom* \xc3`},
		{"no white space", strings.Repeat("東", 100) + "loom" + strings.Repeat("京", 100), "… " + strings.Repeat("東", 24) + "*loom*" + strings.Repeat("京", 24) + " …"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := snippetsOf(t, analyze.Settings{}, "loom", "warp").of(test.text); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := snippetsOf(t, analyze.Settings{Stemmer: analyze.StemEnglish}, "weav").of("Weaving, he weaves."); got != "*Weaving*, he *weaves*." {
		t.Errorf("%q", got)
	}
}

// TestSnippetProperties checks that a snippet of any text is one short printable line of
// the text, with a word of the query if the text has one.
func TestSnippetProperties(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"loom", "warp", "Loom's", " ", "  ", "\n", ", ", "a", "東京", "\x1b[0m", "\xff", "\u202e", "é", strings.Repeat("x", 200), strings.Repeat("y ", 90)})
	a, err := analyze.New(analyze.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	tokens := a.Tokenizer()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 60).Draw(t, "pieces"), "")
		s := snippetsOf(t, analyze.Settings{}, "loom", "warp")
		got := s.of(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) && r != utf8.RuneError }) {
			t.Fatalf("%q cannot be shown", got)
		}
		words := 0
		for token := range tokens.Tokens([]byte(text)) {
			if term := string(token.Term); term == "loom" || term == "warp" {
				words++
			}
		}
		if words > 0 && !strings.Contains(got, "*") || len(got) > 4*snippetWidth+2*words+20 {
			t.Fatalf("%d bytes for %d words of the query: %q", len(got), words, got)
		}
		kept := strings.NewReplacer("*", "", "… ", "", " …", "", "…", "").Replace(got)
		plain := terminal.Field(strings.Join(strings.Fields(text), " "))
		if !strings.Contains(strings.Join(strings.Fields(plain), ""), strings.Join(strings.Fields(kept), "")) {
			t.Fatalf("%q is not from %q", kept, plain)
		}
	})
}
