package analyze

import (
	"strings"
	"testing"
)

// TestPorter compares with the terms of EnglishAnalyzer in Lucene, whose stemmer departs
// from Porter's paper for words of two letters, -bli and -logi.
func TestPorter(t *testing.T) {
	words, _ := StopWords("lucene")
	a := mustNew(t, Settings{Stemmer: StemPorter, StopWords: words})
	for text, want := range map[string]string{
		"analyst's DIJKSTRA'S weaver’s dogs' don't": "analyst dijkstra weaver dog don't",
		"it's that's the 1960's":                    "1960 s",
		"js os as is":                               "js os",
		"analogies biology possibly":                "analog biologi possibl",
		"ies eed sses":                              "i eed ss",
		"ied ed ing agreed feed":                    "i ed ing agre feed",
		"caresses ponies relational conditional":    "caress poni relat condit",
	} {
		if got := strings.Join(a.Terms(text), " "); got != want {
			t.Errorf("Terms(%q) = %q, want %q", text, got, want)
		}
	}
	a = mustNew(t, Settings{Stemmer: StemPorter, StopWords: []string{"let's"}})
	if got := a.Terms("let's let"); len(got) != 1 || got[0] != "let" {
		t.Errorf("terms %q", got)
	}
}
