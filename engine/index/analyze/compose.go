package analyze

import "golang.org/x/text/unicode/norm"

// composedLead are the first bytes of characters that are as they are in normal form C, whatever
// precedes them: ASCII, U+0080 to U+02FF, Greek from U+03C0 on, Cyrillic letters, most ideographs and
// Hangul syllables.
var composedLead = func() (lead [256]bool) {
	for c := range lead {
		lead[c] = c < 0xcc || c >= 0xcf && c <= 0xd1 || c >= 0xe5 && c <= 0xe9 || c == 0xeb || c == 0xec
	}
	return lead
}()

// composed reports whether word is surely in normal form C.
func composed(word []byte) bool {
	for _, c := range word {
		if !composedLead[c] {
			return norm.NFC.QuickSpan(word) == len(word)
		}
	}
	return true
}

// compose returns a word in normal form C.
func compose(word string) string { return norm.NFC.String(word) }
