package analyze

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// folder writes words in one form for all their spellings in Unicode: compatible
// characters become one (NFKC), upper and lower case become one (full case folding),
// characters that are not seen go, and so do the marks of base that do not make another letter.
// Marks of other scripts stay, because words differ by them.
type folder struct {
	cases cases.Caser // has state
}

func newFolder() *folder { return &folder{cases.Fold()} }

// fold returns the folded form of a word.
func (f *folder) fold(word string) string {
	folded := f.cases.String(norm.NFKD.String(word))
	return norm.NFC.String(string(simplify(norm.NFKD.String(folded))))
}

// spellings are the plain forms of letters that have no decomposition, and of apostrophes.
var spellings = map[rune]string{
	'æ': "ae", 'ð': "d", 'đ': "d", 'ħ': "h", 'ı': "i", 'ł': "l", 'ø': "o", 'œ': "oe", 'þ': "th", 'ŧ': "t",
	'ƀ': "b", 'ǥ': "g", 'ɨ': "i", 'ƶ': "z", 'ʉ': "u", 'ɍ': "r", 'ɏ': "y",
	'\u2018': "'", '\u2019': "'", '\u201b': "'", '\u02bb': "'", '\u02bc': "'", '\u055a': "'", '\ua78c': "'",
}

// simplify writes decomposed text without marks that are only spelling, in plain letters.
func simplify(decomposed string) []byte {
	out := make([]byte, 0, len(decomposed))
	var script *script // script of the letter before
	var letter rune
	for _, r := range decomposed {
		plain, found := spellings[r]
		switch {
		case ignorable(r) || r == tatweel:
		case found:
			out, letter, script = append(out, plain...), r, scriptOf(r)
		case unicode.Is(unicode.Mn, r):
			if script == nil || !script.drops(letter, r) {
				out = utf8.AppendRune(out, r)
			}
		default:
			out, letter, script = utf8.AppendRune(out, r), r, scriptOf(r)
		}
	}
	return out
}

// tatweel lengthens a line of Arabic.
const tatweel = '\u0640'

// ignorable reports whether r is not seen (Default_Ignorable_Code_Point), such as a soft hyphen, a
// zero-width joiner or a variation selector.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// script is a script with marks that words need not have.
type script struct {
	table *unicode.RangeTable
	drops func(letter, mark rune) bool // behind a letter of the script
}

var scripts = []script{
	{unicode.Latin, accent},
	{unicode.Greek, accent},
	{unicode.Cyrillic, func(letter, mark rune) bool {
		// The dots of \u0451, and the acute of stress. Other marks make other letters.
		return letter == 'е' && mark == 0x308 || letter != 'г' && letter != 'к' && mark == 0x301
	}},
	{unicode.Hebrew, func(_, mark rune) bool { return 0x591 <= mark && mark <= 0x5c7 || mark == 0xfb1e }}, // points and accents
	{unicode.Arabic, func(_, mark rune) bool {
		return 0x64b <= mark && mark <= 0x652 || 0x656 <= mark && mark <= 0x65f || mark == 0x670 || // vowels
			0x610 <= mark && mark <= 0x61a || 0x6d6 <= mark && mark <= 0x6ed || 0x8d3 <= mark && mark <= 0x8ff // signs of the Koran
	}},
}

// accent reports whether a mark is a combining diacritical mark.
func accent(_, mark rune) bool { return 0x300 <= mark && mark <= 0x36f }

// scriptOf returns the script of a letter, or nil.
func scriptOf(r rune) *script {
	for i := range scripts {
		if unicode.Is(scripts[i].table, r) {
			return &scripts[i]
		}
	}
	return nil
}
