package analyze

// Most words of most text are plain ASCII between plain ASCII. This file finds
// their ends by the same rules as the segmenter, several times faster; whatever
// touches a character beyond ASCII is left to the segmenter. A test compares
// the two on every short string over an alphabet that has each class.

// Classes of bytes, after the word break properties of UAX #29.
const (
	other    = iota // ends a word: white space, controls, most punctuation
	letter          // ALetter
	digit           // Numeric
	joiner          // ExtendNumLet: _
	middle          // MidLetter, MidNum, MidNumLet, Single_Quote: : , ; . '
	nonASCII        // a byte of a longer character
)

var class = func() (c [256]uint8) {
	for b := range c {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z':
			c[b] = letter
		case '0' <= b && b <= '9':
			c[b] = digit
		case b == '_':
			c[b] = joiner
		case b == ':', b == ',', b == ';', b == '.', b == '\'':
			c[b] = middle
		case b >= 0x80:
			c[b] = nonASCII
		}
	}
	return c
}()

// asciiWord returns the end of the word that starts at text[i], a letter, digit
// or joiner with a word break before it. It gives up (ok false) when a character
// beyond ASCII has a say in where the word ends.
func asciiWord(text []byte, i int) (end int, ok bool) {
	for j := i + 1; j < len(text); j++ {
		switch class[text[j]] {
		case other:
			return j, true
		case nonASCII:
			return 0, false
		case middle:
			if j+1 == len(text) {
				return j, true
			}
			next := class[text[j+1]]
			if next == nonASCII {
				return 0, false
			}
			if next != class[text[j-1]] || !joins(text[j], next) {
				return j, true
			}
		}
	}
	return len(text), true
}

// joins reports whether the middle character c joins two letters (WB6, WB7) or two
// digits (WB11, WB12) to one word.
func joins(c, neighbours uint8) bool {
	switch neighbours {
	case letter:
		return c == ':' || c == '.' || c == '\''
	case digit:
		return c == ',' || c == ';' || c == '.' || c == '\''
	}
	return false
}

// stretch returns the end of a piece of text, from i on, that can be segmented
// without its surroundings: it ends before ASCII white space that is followed by
// ASCII (a combining character behind it would cling to it) or by nothing.
func stretch(text []byte, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case ' ', '\t', '\n', '\r':
			if j+1 == len(text) || class[text[j+1]] != nonASCII {
				return j
			}
		}
	}
	return len(text)
}
