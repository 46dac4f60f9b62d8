package analyze

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"heddle/engine/plan/testneeds"
)

func mustNew(t testing.TB, s Settings) *Analyzer {
	t.Helper()
	a, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTerms(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"no words", " \t\r\n.,;:!?'\"()-+*/ __ _ ’ …", ""},
		{"plain", "In the beginning God created", "in the beginning god created"},
		{"punctuation around", "(one), \"two\"; three: 'four' five.", "one two three four five"},
		{"apostrophe inside", "doesn't O'Neil rock'n'roll dogs'", "doesn't o'neil rock'n'roll dogs"},
		{"numbers", "3.14 1,000,000 10;20 5. .5 1.a a.1 12:30", "3.14 1,000,000 10;20 5 5 1 a a 1 12 30"},
		{"dots and colons", "example.com e.g. a:b c::d f..g", "example.com e.g a:b c d f g"},
		{"joiners", "foo_bar _x y_ __init__ a_1.2_b", "foo_bar _x y_ __init__ a_1.2_b"},
		{"hyphen", "well-known x-1", "well known x 1"},
		{"mixed letter digit", "utf8 8bit b2b", "utf8 8bit b2b"},
		{"latin", "Ärger ÉTÉ Straße İstanbul", "ärger été straße istanbul"},
		{"greek", "ΟΔΟΣ Αθήνα", "οδοσ αθήνα"},
		{"cyrillic", "ПРИВЕТ, мир!", "привет мир"},
		{"combining mark", "cafe\u0301 e\u0301te\u0301", "café été"},
		{"mark after space", "a \u0301b", "a b"},
		{"typographic apostrophe", "don’t ‘quoted’", "don’t quoted"},
		{"han", "漢字 kanji", "漢字 kanji"},
		{"kana", "ひらカタ", "ひら らカ カタ"},
		{"hangul", "한국어 말", "한국 국어 말"},
		{"hangul beside latin", "abc한국 2026년", "abc 한국 2026 년"},
		{"conjoining jamo", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"},
		{"hebrew", "צה\"ל שלום", "צה\"ל שלום"},
		{"arabic digits", "١٢٣ ٣٫١٤", "١٢٣ ٣٫١٤"},
		{"thai", "ก", "ก"},
		{"thai in pairs", "ภาษาไทย", "ภา าษ ษา าไ ไท ทย"},
		{"thai beside latin", "ใช้Go๑๒ได้", "ใช้ go๑๒ ได้"},
		{"lao", "ພາສາ ລາວ", "ພາ າສ ສາ ລາ າວ"},
		{"burmese", "မြန်မာ", "မြန် န်မ မာ"},
		{"khmer", "ភាសាខ្មែរ", "ភាសា សាខ្មែ ខ្មែរ"},
		{"emoji", "loom 🧵 🇩🇪 weave", "loom 🧵 🇩🇪 weave"},
		{"invalid bytes", "one\xfftwo \x80 thr\xc3ee \xe6\xbc", "one two thr ee"},
		{"nul and controls", "a\x00b\x7fc\x01", "a b c"},
		{"soft hyphen", "co\u00adoperate", "co\u00adoperate"},
		{"line ends", "one\r\ntwo\nthree\u2028four", "one two three four"},
	} {
		if got := strings.Join(mustNew(t, Settings{}).Terms(c.text), " "); got != c.want {
			t.Errorf("%s: Terms(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

// TestClusters: documents in scripts without spaces have all their clusters and the terms of
// each query that is a part of them.
func TestClusters(t *testing.T) {
	a := mustNew(t, Settings{})
	documentTerms := func(text string) (terms []string) {
		for token := range a.Documents().Tokens([]byte(text)) {
			if at := text[token.Start:token.End]; at != string(token.Term) {
				t.Errorf("%q: term %q stands at %q", text, token.Term, at)
			}
			terms = append(terms, string(token.Term))
		}
		return terms
	}
	for text, want := range map[string]string{
		"ก":         "ก",
		"ไทย กิน":   "ไ ไท ท ทย ย กิ กิน น",
		"red ไท 漢字": "red ไ ไท ท 漢 漢字 字",
	} {
		if got := strings.Join(documentTerms(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		clusters := rapid.SliceOfN(rapid.SampledFrom([]string{"ก", "กิ", "น้ำ", "ไ", "ພ", "າ", "မြ", "န်", "សា", "ខ្មែ"}), 1, 12).Draw(t, "clusters")
		have := documentTerms(strings.Join(clusters, ""))
		first := rapid.IntRange(0, len(clusters)-1).Draw(t, "first")
		last := rapid.IntRange(first, len(clusters)-1).Draw(t, "last")
		query := strings.Join(clusters[first:last+1], "")
		for _, term := range a.Terms(query) {
			if !slices.Contains(have, term) {
				t.Fatalf("query %q: term %q is not in %q", query, term, have)
			}
		}
	})
}

func TestStemmer(t *testing.T) {
	a := mustNew(t, Settings{Stemmer: StemEnglish, StopWords: []string{"THE", "of"}})
	got := strings.Join(a.Terms("The weavers' weaving of the woven cities doesn't stop; dog's running news 42s"), " ")
	if want := "weaver weav woven citi doesn't stop dog run news 42s"; got != want {
		t.Errorf("stems %q, want %q", got, want)
	}
	// The same words from the cache.
	tok := a.Tokenizer()
	for range 3 {
		var terms []string
		for token := range tok.Tokens([]byte("cities cities running")) {
			terms = append(terms, string(token.Term))
		}
		if want := []string{"citi", "citi", "run"}; !slices.Equal(terms, want) {
			t.Errorf("stems %q, want %q", terms, want)
		}
	}
}

func TestStemCacheIsBounded(t *testing.T) {
	tok := mustNew(t, Settings{Stemmer: StemEnglish}).Tokenizer()
	word := make([]byte, 4)
	for i := range cacheSize + 10 {
		for j := range word {
			word[j] = 'a' + byte(i>>(4*j))&15
		}
		for range tok.Tokens(word) {
		}
		if len(tok.stems) > cacheSize {
			t.Fatalf("%d cached stems after %d words", len(tok.stems), i)
		}
	}
}

func TestStopWordsAreComparedBeforeStemming(t *testing.T) {
	a := mustNew(t, Settings{Stemmer: StemEnglish, StopWords: []string{"being"}})
	if got := a.Terms("being be beings"); !slices.Equal(got, []string{"be", "be"}) {
		t.Errorf("terms %q", got)
	}
}

func TestSettings(t *testing.T) {
	words := []string{"The", "a", "THE", "Öl"}
	a := mustNew(t, Settings{Stemmer: "English", StopWords: words})
	want := Settings{Rules: Rules, Tokens: TokensWords, CJK: CJKBigrams, Stemmer: StemEnglish, StopWords: []string{"a", "the", "öl"}}
	if got := a.Settings(); !reflect.DeepEqual(got, want) {
		t.Errorf("settings %v, want %v", got, want)
	}
	if !slices.Equal(words, []string{"The", "a", "THE", "Öl"}) {
		t.Errorf("the caller's stop words became %q", words)
	}
	if got := mustNew(t, a.Settings()).Settings(); !reflect.DeepEqual(got, want) {
		t.Errorf("canonical settings changed to %v", got)
	}
	if got := mustNew(t, Settings{}).Settings().Stemmer; got != StemNone {
		t.Errorf("default stemmer %q", got)
	}
	if _, err := New(Settings{Stemmer: "klingon"}); err == nil || !strings.Contains(err.Error(), `"klingon"`) {
		t.Errorf("unknown stemmer: %v", err)
	}
}

func TestLongWordsAreCut(t *testing.T) {
	testneeds.Long(t)
	for _, c := range []struct{ name, word, want string }{
		{"just fits", strings.Repeat("a", MaxTerm), strings.Repeat("a", MaxTerm)},
		{"ASCII", strings.Repeat("B", MaxTerm+1), strings.Repeat("b", MaxTerm)},
		{"two bytes a character", strings.Repeat("é", 1000), strings.Repeat("é", MaxTerm/2)},
		{"boundary before the character", strings.Repeat("a", MaxTerm-1) + "éa", strings.Repeat("a", MaxTerm-1)},
		{"shrinks by lower-casing", strings.Repeat("\u212a", MaxTerm+1), strings.Repeat("k", MaxTerm)},
		{"long run of joiners", strings.Repeat("_", 2*MaxTerm) + "a", ""},
	} {
		got := strings.Join(mustNew(t, Settings{}).Terms("x "+c.word+" y"), " ")
		want := strings.Join(strings.Fields("x "+c.want+" y"), " ")
		if got != want {
			t.Errorf("%s: terms %q, want %q", c.name, got, want)
		}
	}
	// A megabyte without a break takes no time to speak of.
	huge := strings.Repeat("漢字かなカナ123.é", 1<<16)
	n := 0
	for token := range mustNew(t, Settings{}).Tokenizer().Tokens([]byte(huge)) {
		if len(token.Term) > MaxTerm || !utf8.Valid(token.Term) {
			t.Fatalf("term %q", token.Term)
		}
		n++
	}
	if n < 5<<16 {
		t.Errorf("%d terms", n)
	}
}

func TestTokenizerAllocatesNothing(t *testing.T) {
	text := []byte("The quick brown fox doesn't jump over 3.14 lazy dögs, 漢字 ПРИВЕТ cafe\u0301 🧵 ไทย")
	tok := mustNew(t, Settings{Stemmer: StemEnglish, StopWords: []string{"the"}}).Tokenizer()
	bytes := 0
	each := func() {
		for token := range tok.Tokens(text) {
			bytes += len(token.Term)
		}
	}
	each()
	if n := testing.AllocsPerRun(100, each); n != 0 {
		t.Errorf("%v allocations a text", n)
	}
	if bytes == 0 {
		t.Error("no terms")
	}
}

func TestAnalyzerIsSafeForConcurrentUse(t *testing.T) {
	a := mustNew(t, Settings{Stemmer: StemEnglish, StopWords: []string{"the"}})
	want := a.Terms("the cities of the plain were standing")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := a.Terms("the cities of the plain were standing"); !slices.Equal(got, want) {
					t.Errorf("terms %q, want %q", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestReadStopWords(t *testing.T) {
	got, err := ReadStopWords(strings.NewReader("\ufeff# English\nthe\r\n\n  of  # preposition\nDon't\n#end"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"the", "of", "Don't"}; !slices.Equal(got, want) {
		t.Errorf("stop words %q, want %q", got, want)
	}
	if _, err := ReadStopWords(strings.NewReader(strings.Repeat("a\n", maxStopWords))); err == nil {
		t.Error("a file of 2 MiB was taken for a list of stop words")
	}
}

func BenchmarkTokenizer(b *testing.B) {
	text := []byte(strings.Repeat("Refactor the index builder's merge: don't copy a list (see issue_tracker.c), 3.5% faster now. ", 1000))
	for _, c := range []struct {
		name string
		text []byte
		set  Settings
	}{
		{"ascii", text, Settings{}},
		{"ascii-stop-stem", text, Settings{Stemmer: StemEnglish, StopWords: []string{"the", "a", "now"}}},
		{"cyrillic", []byte(strings.Repeat("Не копировать список при слиянии индекса, так быстрее. ", 1000)), Settings{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			tok := mustNew(b, c.set).Tokenizer()
			n := 0
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				for token := range tok.Tokens(c.text) {
					n += len(token.Term)
				}
			}
		})
	}
}

// TestSpaces keeps tokens between white space as they are.
func TestSpaces(t *testing.T) {
	a := mustNew(t, Settings{Tokens: "Whitespace"})
	text := "The ##ing [CLS]\t▁loom\u00a0don't\r\n\xff\xfe . " + strings.Repeat("x", MaxToken+1)
	want := []string{"The", "##ing", "[CLS]", "▁loom", "don't", "\xff\xfe", ".", strings.Repeat("x", MaxToken)}
	if got := a.Terms(text); !slices.Equal(got, want) {
		t.Errorf("Terms = %.80q, want %.80q", got, want)
	}
	if got, want := a.Settings(), (Settings{Rules: Rules, Tokens: TokensSpaces, Stemmer: StemNone, StopWords: []string{}}); !reflect.DeepEqual(got, want) {
		t.Errorf("settings %+v, want %+v", got, want)
	}
	for _, s := range []Settings{
		{Tokens: "bytes"}, {Tokens: TokensSpaces, Stemmer: StemEnglish}, {Tokens: TokensSpaces, StopWords: []string{"the"}},
	} {
		if _, err := New(s); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}

// TestPlaces: the bytes at the place of a term alone give that term again.
func TestPlaces(t *testing.T) {
	const text = "  The Weavers' LOOM-2, don\u2019t e\u0301tude \xff\xfe 東京タワー \U0001f1eb\U0001f1f7 __ the__x 3.14\n"
	for _, s := range []Settings{{}, {Stemmer: StemEnglish, StopWords: []string{"the", "don\u2019t"}}, {Tokens: TokensSpaces}} {
		a := mustNew(t, s)
		var terms []string
		last := 0
		padded := append([]byte(text), "behind"...)[:len(text)] // capacity beyond the text
		for token := range a.Tokenizer().Tokens(padded) {
			start, end := token.Start, token.End
			terms = append(terms, string(token.Term))
			if start < last || end <= start || end > len(text) {
				t.Fatalf("%+v: term %q at %d to %d, behind %d", s, token.Term, start, end, last)
			}
			if alone := a.Terms(text[start:end]); !slices.Equal(alone, terms[len(terms)-1:]) {
				t.Errorf("%+v: term %q is made of %q, which has terms %q", s, token.Term, text[start:end], alone)
			}
			if last = end; a.settings.CJK == CJKBigrams { // pairs overlap
				last = start
			}
		}
		if want := a.Terms(text); len(want) < 7 || !slices.Equal(terms, want) {
			t.Errorf("%+v: %q, want %q", s, terms, want)
		}
	}
}

// TestStemmers has a word of every stemmer with its published stem.
func TestStemmers(t *testing.T) {
	want := map[string][2]string{
		StemNone: {"looms", "looms"}, StemEnglish: {"fairly", "fair"}, StemPorter: {"fairly", "fairli"},
		"arabic": {"الكتاب", "كتاب"}, "danish": {"venner", "ven"}, "dutch": {"lichamelijk", "licham"},
		"finnish": {"taloissa", "talo"}, "french": {"continuellement", "continuel"}, "german": {"häuser", "haus"},
		"hungarian": {"házakban", "ház"}, "irish": {"bhfear", "fear"}, "italian": {"abbandonata", "abbandon"},
		"norwegian": {"vennene", "venn"}, "portuguese": {"boas", "boas"}, "romanian": {"copiilor", "cop"},
		"russian": {"важнейшие", "важн"}, "spanish": {"chicharrones", "chicharron"}, "swedish": {"klockorna", "klock"},
		"tamil": {"மரங்கள்", "மரங்"}, "turkish": {"evlerinde", "ev"},
	}
	for _, name := range Stemmers() {
		w, ok := want[name]
		if !ok {
			t.Errorf("no example for %s", name)
			continue
		}
		if got := mustNew(t, Settings{Stemmer: name}).Terms(w[0]); len(got) != 1 || got[0] != w[1] {
			t.Errorf("%s: %q becomes %q, want %q", name, w[0], got, w[1])
		}
	}
}

// FuzzStemmers: any word, in any script, gives a stem.
func FuzzStemmers(f *testing.F) {
	for _, w := range []string{"", "y", "yyy", "aeiou", "relational", "ß", "été", "ไทย", "الكتاب", "\u0301", "evlerinde"} {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, word string) {
		for _, name := range Stemmers() {
			a := mustNew(t, Settings{Stemmer: name})
			for _, term := range a.Terms(word) {
				if term == "" {
					t.Errorf("%s: an empty term of %q", name, word)
				}
			}
		}
	})
}
