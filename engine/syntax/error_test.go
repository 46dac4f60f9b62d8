package syntax

import "testing"

// TestReasonOf reads the reason back from the text of an error.
func TestReasonOf(t *testing.T) {
	for _, reason := range []string{"", "a ( is missing", "want a: b", "column 3: x"} {
		if got := ReasonOf((&Error{Text: "é (a", Offset: 3, Reason: reason}).Error()); got != reason {
			t.Errorf("%q, want %q", got, reason)
		}
	}
	for _, text := range []string{"", "no such file", "column 3", "column 3: a"} {
		if got := ReasonOf(text); got != "" {
			t.Errorf("%q: %q", text, got)
		}
	}
}
