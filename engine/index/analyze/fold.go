package analyze

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// folder writes words in one form for all their spellings in Unicode: compatible
// characters become one (NFKC), upper and lower case become one (full case folding),
// and accents of Latin and Greek letters go. Marks of other scripts stay, because words
// differ by them.
type folder struct {
	cases cases.Caser // has state
}

func newFolder() *folder { return &folder{cases.Fold()} }

// fold returns the folded form of a word.
func (f *folder) fold(word string) string {
	folded := f.cases.String(norm.NFKD.String(word))
	return norm.NFC.String(string(dropAccents([]byte(norm.NFKD.String(folded)))))
}

// dropAccents removes, in place, combining diacritical marks (U+0300 to U+036F) behind
// Latin and Greek letters.
func dropAccents(decomposed []byte) []byte {
	kept, accented := decomposed[:0], false
	for len(decomposed) > 0 {
		r, size := utf8.DecodeRune(decomposed)
		mark := r >= 0x300 && r <= 0x36f
		if !mark {
			accented = unicode.In(r, unicode.Latin, unicode.Greek)
		}
		if !mark || !accented {
			kept = append(kept, decomposed[:size]...)
		}
		decomposed = decomposed[size:]
	}
	return kept
}
