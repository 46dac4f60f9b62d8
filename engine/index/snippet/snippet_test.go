package snippet

import (
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/analyze"
	"heddle/engine/plan"
)

// marked is the snippet of a text for a query, with stars around its marks.
func marked(t *testing.T, set analyze.Settings, query, text string) string {
	t.Helper()
	a, err := analyze.New(set)
	if err != nil {
		t.Fatal(err)
	}
	return render(New(a.Documents(), a.Terms(query), nil, 400), text)
}

func render(f *Finder, text string) string {
	s := f.Find(text)
	var b strings.Builder
	at := s.Start
	for _, m := range s.Marks {
		b.WriteString(text[at:m.Start] + "*" + text[m.Start:m.End] + "*")
		at = m.End
	}
	return b.String() + text[at:s.End]
}

// TestMarks: a word is marked as a whole in every script, with an odd or even number of clusters.
func TestMarks(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"ไทย", "ภาษา*ไทย*ไม่มีวรรค"}, {"ภาษา", "*ภาษา*ไทยไม่มีวรรค"},
		{"ខ្មែរ", "ភាសា*ខ្មែរ*"}, {"ລາວ", "ພາສາ*ລາວ*"}, {"မြန်မာ", "*မြန်မာ*ဘာသာ"},
		{"東京都", "*東京都*に行く"}, {"カタカナ", "漢字と*カタカナ*"}, {"한국어", "나는 *한국어*를 배운다"}, {"京", "東*京*に"},
		{"loom", "red looms *loom*, *Loom*"}, {"O’Neil", "(*O’Neil*)"}, {"cafe\u0301", "un *café*, un *cafe\u0301*"},
		{"ПРИВЕТ", "*Привет*, мир"}, {"Ἀθήνα", "η *ἀθήνα*!"}, {"שלום", "*שלום* עולם"}, {"سلام", "«*سلام*» دنیا"}, {"हिन्दी", "*हिन्दी* भाषा"},
		{"தமிழ்", "*தமிழ்* மொழி"}, {"ქართული", "*ქართული* ენა"}, {"հայերեն", "*Հայերեն* լեզու"}, {"አማርኛ", "*አማርኛ* ቋንቋ"}, {"ᏣᎳᎩ", "*ᏣᎳᎩ* ᎦᏬᏂᎯᏍᏗ"},
		{"монгол", "*монгол* хэл"}, {"བོད", "*བོད*་སྐད"}, {"\U0001f9f5", "loom *\U0001f9f5* reed"},
	} {
		text := strings.ReplaceAll(c.want, "*", "")
		if got := marked(t, analyze.Settings{}, c.query, text); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	fold := analyze.Settings{Fold: true}
	for query, want := range map[string]string{
		"don't": "*don’t* touch", "cooperation": "a *co\u00adop\u00ader\u00adation*", "שלום": "*שָׁלוֹם* x", "елка": "*Ёлка*", "lodz": "*Łódź*, PL", "strasse": "*Straße*",
	} {
		if got := marked(t, fold, query, strings.ReplaceAll(want, "*", "")); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestPhrases: a match of a phrase or window is marked as a whole, other words of a phrase are not.
func TestPhrases(t *testing.T) {
	a, err := analyze.New(analyze.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	slot := func(offset uint32, terms ...string) Slot { return Slot{offset, terms} }
	redLoom := []Slot{slot(0, "red"), slot(1, "loom")}
	three := []Slot{slot(0, "a"), slot(1, "b"), slot(2, "c")}
	for _, c := range []struct {
		phrase Phrase
		terms  []string
		want   string
	}{
		{Phrase{plan.Exact, 0, redLoom}, nil, "red *red loom*, loom red"},
		{Phrase{plan.Exact, 0, redLoom}, []string{"loom"}, "red *red loom*, *loom* red"},
		{Phrase{plan.Exact, 0, []Slot{slot(0, "red"), slot(1, "lock", "loom")}}, nil, "*red lock* *red loom* red"},
		{Phrase{plan.Exact, 0, []Slot{slot(0, "in"), slot(2, "beginning")}}, nil, "*in the beginning*, in beginning"},
		{Phrase{plan.Sloppy, 1, redLoom}, nil, "*red big loom* red very big loom"},
		{Phrase{plan.Sloppy, 2, redLoom}, nil, "*loom red* x x x red"},
		{Phrase{plan.Sloppy, 1, []Slot{slot(0, "a"), slot(1, "a")}}, nil, "a x x x *a b a*"},
		{Phrase{plan.Near, 3, three}, nil, "*a b c b a* x a b d c"},
		{Phrase{plan.Ordered, 2, three}, nil, "*a b x c* x x a b x x c, c b a"},
		{Phrase{plan.Exact, 0, three}, nil, "a b d c"},
	} {
		text := strings.ReplaceAll(c.want, "*", "")
		if got := render(New(a.Documents(), c.terms, []Phrase{c.phrase}, 400), text); got != c.want {
			t.Errorf("%v: %s, want %s", c.phrase, got, c.want)
		}
	}
	far := "a" + strings.Repeat(" x", 30) + " b"
	if got, want := render(New(a.Documents(), nil, []Phrase{{plan.Near, 100, three[:2]}}, 40), far), "*a*"; !strings.HasPrefix(got, want) {
		t.Errorf("a match longer than the snippet: %s, want %s", got, want)
	}
	many := strings.Repeat("a ", 1<<12)
	if got := render(New(a.Documents(), nil, []Phrase{{plan.Near, 1 << 12, slices.Repeat([]Slot{slot(0, "a")}, 1<<9)}}, 20), many); !strings.HasPrefix(got, "*a* *a*") {
		t.Errorf("too many places: %s", got)
	}
}
