package analyze

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// TestFold compares spellings of words.
func TestFold(t *testing.T) {
	a := mustNew(t, Settings{Fold: true})
	for text, want := range map[string]string{
		"café CAFÉ cafe cafe\u0301 ＣＡＦＥ":                "cafe cafe cafe cafe cafe",
		"Straße STRASSE strasse":                        "strasse strasse strasse",
		"ÅNGSTRÖM \u212bngström naïve Đà Nẵng":          "angstrom angstrom naive da nang",
		"Ἀθήνα ΟΔΟΣ οδός":                               "αθηνα οδοσ οδοσ",
		"ﬁnal ﬀ ½x ℌ ":                                  "final ff x h",
		"İstanbul ISTANBUL ısparta":                     "istanbul istanbul isparta",
		"й и ё Ё е ї і за́мок ѓ г":                      "й и е е е ї і замок ѓ г",
		"が か हिन्दी हिन्द":                              "が か हिन्दी हिन्द",
		"ｶﾞ ガ 한국 \u1112\u1161\u11ab\u1100\u116e\u11a8":  "ガ ガ 한국 한국",
		"smørrebrød łódź Œuvre þæt":                     "smorrebrod lodz oeuvre thaet",
		"don't don\u2019t don\u02bct O\u2019Neil ＤＯＮ＇Ｔ": "don't don't don't o'neil don't",
		"co\u00adop\u00ader\u00adation cooperation":     "cooperation cooperation",
		"می\u200cخواهم میخواهم":                         "میخواهم میخواهم",
		"שָׁלוֹם שלום":                                  "שלום שלום",
		"كِتَابٌ كتاب كـتاب أحمد":                       "كتاب كتاب كتاب أحمد",
		"❤\ufe0f ❤ 1\ufe0f\u20e3":                       "❤ ❤ 1\u20e3",
		"葛\U000e0100城 葛城":                               "葛城 葛城",
		"ภาษา plain text":                               "ภา าษ ษา plain text",
	} {
		if got := strings.Join(a.Terms(text), " "); got != want {
			t.Errorf("Terms(%q) = %q, want %q", text, got, want)
		}
	}
	a = mustNew(t, Settings{Fold: true, Stemmer: StemEnglish, StopWords: []string{"Été"}})
	if got := a.Terms("résumés RESUMES ete"); !slices.Equal(got, []string{"resum", "resum"}) {
		t.Errorf("stemmed %q", got)
	}
	if got := mustNew(t, a.Settings()).Settings(); !got.Fold || !slices.Equal(got.StopWords, []string{"ete"}) {
		t.Errorf("settings %+v", got)
	}
	if _, err := New(Settings{Fold: true, Tokens: TokensSpaces}); err == nil {
		t.Error("folded tokens between white space")
	}
}

// TestFoldForms: all normal forms of a word, and both cases, are the same term, and
// folding a term changes nothing.
func TestFoldForms(t *testing.T) {
	f := newFolder()
	fold := f.fold
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom(nil, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Mn, unicode.Hangul, unicode.Devanagari, unicode.Hebrew, unicode.Arabic, unicode.Cf), 1, 8, -1).Draw(t, "word")
		want := fold(word)
		for _, form := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
			if got := fold(form.String(word)); got != want {
				t.Fatalf("fold(%+q) = %+q, fold(%+q) = %+q", word, want, form.String(word), got)
			}
		}
		if got := fold(want); got != want {
			t.Fatalf("fold(%+q) = %+q, folded again %+q", word, want, got)
		}
	})
}

// TestFoldAllocates nothing in a steady state.
func TestFoldAllocates(t *testing.T) {
	tok := mustNew(t, Settings{Fold: true}).Tokenizer()
	text := []byte("Ein Café in der großen Straße, ＣＡＦＥ")
	each := func() {
		for range tok.Tokens(text) {
		}
	}
	each()
	if n := testing.AllocsPerRun(100, each); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzFold: any text gives folded terms, which are UTF-8, not empty and not too long.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "Café", "ﬃ Å ß", "\u0301\u0345", "ﷺ", "\xffé", "ΐ"} {
		f.Add(s)
	}
	a := mustNew(f, Settings{Fold: true})
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range a.Terms(text) {
			if term == "" || len(term) > MaxTerm || !utf8.ValidString(term) {
				t.Fatalf("term %q of %q", term, text)
			}
		}
	})
}
