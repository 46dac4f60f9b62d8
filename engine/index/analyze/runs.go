package analyze

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// Parts of a text have no words in the sense of UAX #29, or other words. They are runs of one kind.
type kind uint8

const (
	wordKind     kind = iota // words of UAX #29
	clusterKind              // scripts without spaces: pairs of grapheme clusters
	emojiKind                // one emoji
	regionalKind             // a regional indicator: two of them are an emoji, a flag
)

// unspaced are scripts that write words without spaces between them: Thai, Lao,
// Burmese, Khmer and their relatives. UAX #29 leaves their words to a dictionary.
var unspaced = rangetable.Merge(unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer,
	unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Ahom)

// cjk are scripts whose words become pairs with CJKBigrams, and the characters of all scripts that
// join their words: the sound mark of Katakana, marks of repetition.
var cjk = rangetable.Merge(unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	rangetable.New('〆', '〱', '〲', '〳', '〴', '〵', '〼', 'ー', 'ｰ'))

// special are the first bytes of characters whose kind is not wordKind.
var special = func() (lead [256]bool) {
	mark := func(low, high rune) {
		if high >= utf8.RuneSelf {
			for b := firstByte(max(low, utf8.RuneSelf)); b <= firstByte(high); b++ {
				lead[b] = true
			}
		}
	}
	for _, table := range []*unicode.RangeTable{unspaced, cjk, pictographic} {
		for _, r := range table.R16 {
			mark(rune(r.Lo), rune(r.Hi))
		}
		for _, r := range table.R32 {
			mark(rune(r.Lo), rune(r.Hi))
		}
	}
	return lead
}()

// firstByte is the first byte of a character in UTF-8.
func firstByte(r rune) byte {
	var b [utf8.UTFMax]byte
	utf8.EncodeRune(b[:], r)
	return b[0]
}

// kind returns the kind of the run that r begins.
func (t *Tokenizer) kind(r rune) kind {
	switch {
	case r < 0xa9:
		return wordKind
	case '一' <= r && r <= '鿿', '가' <= r && r <= '힣', 'ァ' <= r && r <= 'ヺ', 'ぁ' <= r && r <= 'ゖ': // most of them
		return t.cjk
	case 0x1f1e6 <= r && r <= 0x1f1ff:
		return regionalKind
	case unicode.Is(pictographic, r) || 0x1f3fb <= r && r <= 0x1f3ff: // or a skin tone alone
		return emojiKind
	case unicode.Is(cjk, r) && (unicode.IsLetter(r) || unicode.IsNumber(r)):
		return t.cjk
	case unicode.Is(unspaced, r) && unicode.IsLetter(r): // a mark belongs to the word before
		return clusterKind
	}
	return wordKind
}

const (
	emojiStyle = "\ufe0f" // variation selector 16 asks for an emoji, 15 for a text
	textStyle  = "\ufe0e"
	keycap     = "\u20e3"
	joiners    = "\u200c\u200d" // zero-width: non-joiner and joiner
)

// run returns the first run of text[from:to] that is not of wordKind, from start to end. Without
// one, start is to. The text is valid UTF-8.
func (t *Tokenizer) run(text []byte, from, to int) (start, end int, k kind) {
	for start = from; start < to; {
		c := text[start]
		if !special[c] {
			start++
			continue
		}
		r, size := utf8.DecodeRune(text[start:to])
		if r == 0x20e3 {
			if base := keycapBase(text[from:start]); base > 0 {
				return start - base, start + size, emojiKind
			}
		}
		switch k = t.kind(r); k {
		case wordKind:
			start += size
		case clusterKind:
			return start, t.clustersEnd(text[:to], start+size), k
		case emojiKind:
			return start, start + t.cluster(text[start:to]), k
		case regionalKind:
			if size = t.cluster(text[start:to]); size > utf8.UTFMax { // a pair
				return start, start + size, emojiKind
			}
			start += size
		}
	}
	return start, start, wordKind
}

// keycapBase is the number of bytes at the end of before that a keycap behind it makes an emoji.
func keycapBase(before []byte) int {
	n := len(before)
	if n > len(emojiStyle) && string(before[n-len(emojiStyle):]) == emojiStyle {
		n -= len(emojiStyle)
	}
	if n == 0 || class[before[n-1]] != digit && before[n-1] != '#' && before[n-1] != '*' {
		return 0
	}
	return len(before) - n + 1
}

// startsKeycap reports whether text goes on behind the base of a keycap.
func startsKeycap(text []byte) bool {
	if len(text) >= len(emojiStyle) && string(text[:len(emojiStyle)]) == emojiStyle {
		text = text[len(emojiStyle):]
	}
	return len(text) >= len(keycap) && string(text[:len(keycap)]) == keycap
}

// clustersEnd returns the end of a run of clusterKind in text, at end or behind it.
func (t *Tokenizer) clustersEnd(text []byte, end int) int {
	for end < len(text) && text[end] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(text[end:])
		if t.kind(r) != clusterKind && !unicode.IsMark(r) && r != '\u200c' && r != '\u200d' && r != 'ﾞ' && r != 'ﾟ' {
			break
		}
		end += size
	}
	return end
}

// cluster is the length of the first grapheme cluster of text.
func (t *Tokenizer) cluster(text []byte) int {
	t.graphemes.SetText(text)
	t.graphemes.Next()
	return t.graphemes.End()
}

// clusters yields the overlapping pairs of grapheme clusters of text[start:end], or its only
// cluster. Of a document it yields all clusters, each before its pair. A cluster takes a position.
func (t *Tokenizer) clusters(text []byte, start, end int, yield func(Token) bool) bool {
	first := start
	second := start + t.cluster(text[start:end])
	alone := second == end
	for ; first < end; t.position++ {
		if (t.document || alone) && !t.clustered(text, first, second, yield) {
			return false
		}
		if second == end {
			t.position++
			return true
		}
		third := second + t.cluster(text[second:end])
		if !t.clustered(text, first, third, yield) {
			return false
		}
		first, second = second, third
	}
	return true
}

func (t *Tokenizer) clustered(text []byte, start, end int, yield func(Token) bool) bool {
	return !t.lower(text[start:end]) || t.finish(start, end, yield)
}

// emoji yields an emoji, unless it is a stop word.
func (t *Tokenizer) emoji(text []byte, start, end int, yield func(Token) bool) bool {
	if n := end - len(textStyle); n > start && string(text[n:end]) == textStyle {
		end = n
	}
	term := text[start:min(end, start+MaxTerm)]
	term = term[:ValidPrefix(term)]
	if t.folder != nil {
		t.term = append(t.term[:0], t.rewritten.get(term, t.folder.fold)...)
	} else {
		t.term = append(t.term[:0], term...)
	}
	stop := t.stops()
	t.position++
	return stop || yield(Token{Term: t.term, Position: t.position - 1, Start: start, End: end})
}
