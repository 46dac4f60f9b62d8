package query

import "strings"

// Vanished returns the words of a text of which the analysis leaves nothing: stop words, and signs, which
// are words without a letter or digit.
func (x *Index) Vanished(text string) (stops, signs []string) {
	for word := range strings.FieldsSeq(text) {
		switch {
		case len(x.Terms(word)) > 0:
		case x.prefixes != nil && len(x.prefixes.Terms(word)) > 0:
			stops = append(stops, word)
		default:
			signs = append(signs, word)
		}
	}
	return stops, signs
}

// NoteVanished says why a query has no words left; "" if it had none.
func NoteVanished(stops, signs []string) string {
	var parts []string
	if len(stops) > 0 {
		parts = append(parts, "stop words: "+strings.Join(stops, " "))
	}
	if len(signs) > 0 {
		parts = append(parts, "without a letter or digit: "+strings.Join(signs, " "))
	}
	if len(parts) == 0 {
		return ""
	}
	return "no word is left; " + strings.Join(parts, "; ")
}
