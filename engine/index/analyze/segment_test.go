package analyze

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"heddle/engine/plan/testneeds"
)

// reference segments the whole text at once, without the ASCII path and without
// the limit of a term. Bytes that are no UTF-8 separate, and so does NUL anyway.
func reference(text string) []string {
	var terms []string
	for _, valid := range strings.FieldsFunc(strings.ToValidUTF8(text, "\x00"), func(r rune) bool { return r == 0 }) {
		for s := words.FromString(valid); s.Next(); {
			word := norm.NFC.String(strings.Map(unicode.ToLower, norm.NFC.String(s.Value())))
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.In(r, unicode.Nd, unicode.Nl) }) {
				terms = append(terms, word)
			}
		}
	}
	return terms
}

// TestEveryShortString compares the tokenizer with the segmenter alone on every
// short string over alphabets that have each ASCII class and the classes beyond
// ASCII that reach into their neighbours.
func TestEveryShortString(t *testing.T) {
	testneeds.Long(t)
	everyString(t, []string{"a", "1", "_", ".", ":", ",", " "}, 6)
	everyString(t, []string{"a", "B", "1", "_", ".", ":", ",", "'", "\"", " ", "é", "\u0301", "א", "ア", "漢", "\r", "\n", "’", "\xff"}, 4)
}

func everyString(t *testing.T, alphabet []string, length int) {
	tok := mustNew(t, Settings{CJK: CJKUnigrams}).Tokenizer()
	var got []string
	var check func(prefix string, n int)
	check = func(prefix string, n int) {
		got = got[:0]
		for token := range tok.Tokens([]byte(prefix)) {
			got = append(got, string(token.Term))
		}
		if want := reference(prefix); !slices.Equal(got, want) {
			t.Fatalf("terms of %q are %q, want %q", prefix, got, want)
		}
		if n == 0 {
			return
		}
		for _, c := range alphabet {
			check(prefix+c, n-1)
		}
	}
	check("", length)
}

func FuzzEach(f *testing.F) {
	for _, s := range []string{"", "one two", "don't 3.14 foo_bar", "cafe\u0301 \xff漢字\xc3", "צה\"ל", "1.\u03012", "'\u200d'a", "''''", "yyy's'", "a ဉ ไทย b"} {
		f.Add(s)
	}
	plain, _ := New(Settings{CJK: CJKUnigrams})
	stemming, _ := New(Settings{CJK: CJKUnigrams, Stemmer: StemEnglish})
	f.Fuzz(func(t *testing.T, text string) {
		terms := plain.Terms(text)
		for _, term := range terms {
			if term == "" || len(term) > MaxTerm || !utf8.ValidString(term) {
				t.Fatalf("term %q of %q", term, text)
			}
		}
		want := reference(text)
		// The segmenter drops text of scripts without spaces, and emoji.
		other := strings.ContainsFunc(text, func(r rune) bool {
			return unicode.Is(unspaced, r) || stemming.Tokenizer().kind(r) != wordKind || r == 0x20e3
		}) ||
			slices.ContainsFunc(want, func(w string) bool { return len(w) > MaxTerm })
		if !other && !slices.Equal(terms, want) {
			t.Fatalf("terms of %q are %q, want %q", text, terms, want)
		}
		stems := stemming.Terms(text)
		if len(stems) != len(terms) {
			t.Fatalf("%d stems of %d terms of %q", len(stems), len(terms), text)
		}
		for _, stem := range stems {
			if stem == "" || !utf8.ValidString(stem) {
				t.Fatalf("stem %q of %q", stem, text)
			}
		}
	})
}

// TestLowerASCII compares with a loop over single characters, in memory with and without room behind
// the word.
func TestLowerASCII(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]byte("AZaz@[`{09__\x00\x7f\x80\xff"))
		word := rapid.SliceOfN(letters, 0, 30).Draw(t, "word")
		behind := rapid.SliceOfN(letters, 0, 9).Draw(t, "behind")
		var want []byte
		found := false
		for _, c := range word {
			if c >= utf8.RuneSelf {
				break
			}
			want = append(want, byte(unicode.ToLower(rune(c))))
			found = found || c != '_'
		}
		memory := slices.Concat(word, behind)
		got, n, ok := lowerASCII([]byte("x"), slices.Clip(memory)[:len(word)])
		if string(got) != "x"+string(want) || n != len(want) || ok != found {
			t.Fatalf("%q becomes %q, %d characters, %t; want %q, %t", word, got, n, ok, want, found)
		}
	})
}
