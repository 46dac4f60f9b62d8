package coordinator

import (
	"slices"
	"testing"

	"heddle/engine/index/querylang"
	"heddle/engine/internal/query"
)

// TestExpanding: the words of a query are in the order in which one index reads them, which depends on its match mode: the
// first wrong one makes the error.
func TestExpanding(t *testing.T) {
	for match, want := range map[querylang.Match][]string{
		querylang.AllTerms: {"a~", "b", "c", "d~"},
		querylang.AnyTerm:  {"b", "c", "a~", "d~"},
	} {
		var got []string
		for leaf := range expanding([]Query{{Text: "a~ b AND c d~", Options: query.Options{Match: match}}})[0].Leaves {
			got = append(got, leaf.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", match, got, want)
		}
	}
}
