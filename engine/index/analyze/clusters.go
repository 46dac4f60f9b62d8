package analyze

import (
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/rangetable"
)

// unspaced are scripts that write words without spaces between them: Thai, Lao,
// Burmese, Khmer and their relatives. UAX #29 leaves their words to a dictionary.
// Their text becomes overlapping pairs of grapheme clusters instead, like Han in the CJK
// analyser of Lucene. Documents have the single clusters too, so that a query of one cluster
// finds them, as with the option outputUnigrams there.
var unspaced = rangetable.Merge(unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer,
	unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Ahom)

// unspacedRun is the first run of letters and marks of unspaced scripts in valid
// UTF-8: s[start:end], empty where there is none.
func unspacedRun(s []byte) (start, end int) {
	for start < len(s) {
		// The scripts lie in U+0E00 to U+1AAF, U+A9E0 to U+AADF and U+11700 to U+1174F.
		if c := s[start]; c != 0xe0 && c != 0xe1 && c != 0xea && c != 0xf0 {
			start++
			continue
		}
		r, size := utf8.DecodeRune(s[start:])
		if !unspacedRune(r) {
			start += size
			continue
		}
		for end = start + size; end < len(s); end += size {
			if r, size = utf8.DecodeRune(s[end:]); !unspacedRune(r) && r != '\u200c' && r != '\u200d' {
				break
			}
		}
		return start, end
	}
	return start, start
}

func unspacedRune(r rune) bool {
	return unicode.Is(unspaced, r) && (unicode.IsLetter(r) || unicode.IsMark(r))
}

// clusters emits the overlapping pairs of grapheme clusters of a run, or its only
// cluster. Of a document it emits all clusters, each before its pair.
func (t *Tokenizer) clusters(run []byte, emit func([]byte)) {
	first, rest, _, state := uniseg.FirstGraphemeCluster(run, -1)
	if len(rest) == 0 {
		t.word(first, emit)
		return
	}
	for start := 0; len(rest) > 0; {
		if t.document {
			t.word(first, emit)
		}
		var second []byte
		second, rest, _, state = uniseg.FirstGraphemeCluster(rest, state)
		t.word(run[start:start+len(first)+len(second)], emit)
		start += len(first)
		first = second
	}
	if t.document {
		t.word(first, emit)
	}
}
