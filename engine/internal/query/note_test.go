package query

import (
	"strings"
	"testing"

	"heddle/engine/index/analyze"
)

// TestNote: a note names the words of an empty query, or the first sign that is text.
func TestNote(t *testing.T) {
	a, err := analyze.New(analyze.Settings{StopWords: []string{"the", "of", "or"}})
	if err != nil {
		t.Fatal(err)
	}
	sign := func(what string) string { return "the " + what + " of the query is no operator there, and so text" }
	for _, c := range []struct {
		text           string
		literal, found bool
		want           string
	}{
		{text: "the of", want: "no word is left; stop words: the of"},
		{text: "the  of ?!", want: "no word is left; stop words: the of; without a letter or digit: ?!"},
		{text: "the OR of^2", want: "no word is left; stop words: the of"},
		{text: "the OR of", literal: true, want: "no word is left; stop words: the OR of"},
		{text: "the -loom", want: "no word is left; stop words: the"},
		{text: "the loom"},
		{text: "the*"},
		{text: "-the"},
		{text: "*"},
		{text: "the of", found: true},
		{text: "secretary - general", found: true, want: sign("- at byte 11")},
		{text: "secretary - general", want: sign("- at byte 11")},
		{text: "secretary - general", literal: true},
		{text: "secretary -general", found: true},
		{text: "red )", found: true, want: sign(") at byte 5")},
		{text: "the - of", want: "no word is left; stop words: the of; without a letter or digit: -"},
		{text: "the^x"}, // wrong
		{text: strings.Repeat("the ", 1000), want: "no word is left; stop words: " + strings.Repeat("the ", 25) + "…"},
	} {
		if got := Note(a, c.text, c.literal, c.found); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := Note(nil, "?!", false, false); got != "" {
		t.Errorf("white space: %s", got)
	}
}
