package syntax

import "testing"

func TestFieldName(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "title": 5, "title:loom": 5, "_x.y-2²:": 8, "größe!": 7, "e\u0301:": 3, "1st": 0, "-a": 0, ".a": 0, "\u0301a": 0, "a\xff": 1, "\xff": 0, "a b": 1,
	} {
		if got := FieldName(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
