package snippet

import (
	"strings"
	"testing"

	"heddle/engine/index/analyze"
)

// marked is the snippet of a text for a query, with stars around its marks.
func marked(t *testing.T, set analyze.Settings, query, text string) string {
	t.Helper()
	a, err := analyze.New(set)
	if err != nil {
		t.Fatal(err)
	}
	s := New(a.Documents(), a.Terms(query), 400).Find(text)
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
