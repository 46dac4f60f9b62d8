package analyze

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// positions writes the tokens of a text with their positions.
func positions(t *Tokenizer, text string) string {
	var all []string
	for token := range t.Tokens([]byte(text)) {
		all = append(all, fmt.Sprintf("%s@%d", token.Term, token.Position))
	}
	return strings.Join(all, " ")
}

// TestPositions: the values without scripts that lack spaces are the values of StandardAnalyzer and
// EnglishAnalyzer in Lucene 8.
func TestPositions(t *testing.T) {
	stop := mustNew(t, Settings{Stemmer: StemPorter, StopWords: []string{"the", "of"}})
	for _, c := range []struct {
		tokens     *Tokenizer
		text, want string
	}{
		{stop.Tokenizer(), "the quick of fox", "quick@1 fox@3"},
		{stop.Tokenizer(), "a __ b _ _x ____1", "a@0 b@1 _x@2 ____1@3"},
		{stop.Tokenizer(), "loom 🧵 weave", "loom@0 🧵@1 weav@2"},
		{mustNew(t, Settings{Tokens: TokensSpaces}).Tokenizer(), " the  ##x . ", "the@0 ##x@1 .@2"},
		{stop.Tokenizer(), "東京に x 京", "東京@0 京に@1 x@3 京@4"},
		{stop.Documents(), "東京に x 京", "東@0 東京@0 京@1 京に@1 に@2 x@3 京@4"},
		{stop.Documents(), "ไทย", "ไ@0 ไท@0 ท@1 ทย@1 ย@2"},
		{mustNew(t, Settings{CJK: CJKUnigrams}).Documents(), "東京に カタカナ", "東@0 京@1 に@2 カタカナ@3"},
	} {
		if got := positions(c.tokens, c.text); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	for range stop.Tokenizer().Tokens([]byte("one two 東京に 🧵")) {
		break // must end the analysis
	}
}

// TestEmoji has the emoji of StandardTokenizer in Lucene 8.
func TestEmoji(t *testing.T) {
	a := mustNew(t, Settings{})
	for text, want := range map[string]string{
		"© ©\ufe0f ™ ☎ ✔ ♔ ❤ ❤\ufe0f ❤\ufe0e":                                     "© ©\ufe0f ™ ☎ ✔ ♔ ❤ ❤\ufe0f ❤",
		"1\ufe0f\u20e3 #\ufe0f\u20e3 *\ufe0f\u20e3 1\u20e3 # * 1 \u20e3":          "1\ufe0f\u20e3 #\ufe0f\u20e3 *\ufe0f\u20e3 1\u20e3 1",
		"\U0001f469\u200d❤\ufe0f\u200d\U0001f469 \U0001f44d\U0001f3fd \U0001f3fb": "\U0001f469\u200d❤\ufe0f\u200d\U0001f469 \U0001f44d\U0001f3fd \U0001f3fb",
		"\U0001f1e9 \U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7 a\U0001f44db":        "\U0001f1e9\U0001f1ea \U0001f1eb\U0001f1f7 a \U0001f44d b",
		"\U0001f44d\U0001f44d \U0001f004 〰 〰\ufe0f":                               "\U0001f44d \U0001f44d \U0001f004 〰 〰\ufe0f",
	} {
		if got := strings.Join(a.Terms(text), " "); got != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
	}
}

// TestPictographic finds no pictograph that the table lacks: a joiner joins two pictographs, and no other
// symbols, to one grapheme cluster. Later versions of Unicode took the property from a few characters.
func TestPictographic(t *testing.T) {
	for r := rune(0x80); r < 0x20000; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		g := graphemes.FromString(string([]rune{r, 0x200d, r}))
		g.Next()
		if g.End() == len(string([]rune{r, 0x200d, r})) && unicode.IsSymbol(r) && !unicode.Is(pictographic, r) && !(0x1f3fb <= r && r <= 0x1f3ff) {
			t.Errorf("%U is missing", r)
		}
	}
}

// TestScripts has words of every script. Its tokens cover the word, in the original text.
func TestScripts(t *testing.T) {
	for name, table := range unicode.Scripts {
		var letters []rune
		for _, r := range slices.Concat(runes16(table.R16), runes32(table.R32)) {
			if unicode.IsLetter(r) && len(letters) < 7 && len(string(norm.NFC.String(string(r)))) == len(string(r)) {
				letters = append(letters, r)
			}
		}
		for n := range letters {
			word := string(letters[:n+1])
			for _, set := range []Settings{{}, {CJK: CJKUnigrams}, {Fold: true}} {
				a := mustNew(t, set)
				for _, tokens := range []*Tokenizer{a.Tokenizer(), a.Documents()} {
					text := "é, " + word + " 1"
					at, from, to := -1, len(text), 0
					for token := range tokens.Tokens([]byte(text)) {
						if at++; token.Start == 0 || token.End == len(text) {
							continue
						}
						from, to = min(from, token.Start), max(to, token.End)
					}
					if got := text[min(from, to):to]; got != word {
						t.Errorf("%s, %+v: tokens cover %+q of %+q", name, set, got, word)
					}
				}
			}
		}
	}
}

func runes16(ranges []unicode.Range16) (all []rune) {
	for _, r := range ranges {
		for c := rune(r.Lo); c <= rune(r.Hi) && len(all) < 200; c += rune(r.Stride) {
			all = append(all, c)
		}
	}
	return all
}

func runes32(ranges []unicode.Range32) (all []rune) {
	for _, r := range ranges {
		for c := rune(r.Lo); c <= rune(r.Hi) && len(all) < 200; c += rune(r.Stride) {
			all = append(all, c)
		}
	}
	return all
}

// TestNormalForms: the terms of a text do not depend on its normal form.
func TestNormalForms(t *testing.T) {
	letters := rapid.RuneFrom(nil, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Hangul, unicode.Hiragana,
		unicode.Katakana, unicode.Devanagari, unicode.Thai, unicode.Mn)
	analyzers := []*Analyzer{mustNew(t, Settings{}), mustNew(t, Settings{CJK: CJKUnigrams}), mustNew(t, Settings{Fold: true})}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(letters, 0, 12, -1).Draw(t, "text")
		for _, a := range analyzers {
			composed, decomposed := a.Terms(norm.NFC.String(text)), a.Terms(norm.NFD.String(text))
			if !slices.Equal(composed, decomposed) {
				t.Fatalf("%+v: %+q of form C, %+q of form D", a.settings, composed, decomposed)
			}
		}
	})
}
