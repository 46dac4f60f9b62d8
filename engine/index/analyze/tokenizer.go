package analyze

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/words"
)

// cacheSize bounds the number of words whose stem or folded form a Tokenizer remembers; a
// full cache is emptied. Stemming costs 0.5 µs a word and two allocations, a hit a tenth of
// that, and a few thousand words are most of any text.
const cacheSize = 1 << 15

// cache remembers the results of a function of words.
type cache map[string]string

// get returns f(word).
func (c *cache) get(word []byte, f func(string) string) string {
	if s, ok := (*c)[string(word)]; ok {
		return s
	}
	if *c == nil || len(*c) >= cacheSize {
		*c = make(cache)
	}
	key := string(word)
	s := f(key)
	(*c)[key] = s
	return s
}

// Token is a term with its place.
type Token struct {
	Term []byte // valid until the next token; it must not be changed
	// Position is the number of the word in the text, from 0. Stop words count, so that they leave a gap
	// as in Lucene. In scripts without spaces each grapheme cluster counts, and a pair has the position
	// of its first one. Several tokens may have one position.
	Position uint32
	// Start and End are the place of the word in the text, in bytes.
	Start, End int
}

// Tokenizer analyses one text after another. It is cheap to make, and is not
// safe for concurrent use.
type Tokenizer struct {
	analyzer  *Analyzer
	document  bool    // the text is a document, not a query: see Analyzer.Documents
	plain     bool    // words are neither stemmed nor compared with stop words
	cjk       kind    // kind of the pending Chinese, Japanese or Korean characters
	position  uint32  // position of the next word, in words from the start of the text
	term      []byte  // scratch: the term being made
	folder    *folder // nil: none
	wide      []byte  // scratch: the folded or composed word
	words     *words.Iterator[[]byte]
	graphemes *graphemes.Iterator[[]byte]
	stems     cache
	rewritten cache // folded or composed words
}

// Tokens yields the tokens of text in order. Text may hold any bytes; a run of bytes that is no UTF-8
// ends a word, but not a token between white space. In a steady state Tokens allocates nothing but
// the stems and folded words that it has not met.
func (t *Tokenizer) Tokens(text []byte) iter.Seq[Token] {
	return func(yield func(Token) bool) { t.each(text, yield) }
}

// each calls yield for every token until it returns false.
func (t *Tokenizer) each(text []byte, yield func(Token) bool) {
	t.position = 0
	if t.analyzer.settings.Tokens == TokensSpaces {
		t.spaces(text, yield)
		return
	}
	more := true
	for i := 0; i < len(text) && more; {
		c := text[i]
		switch {
		case class[c] == other || class[c] == middle:
			i++ // separates, since no word stands before it
		case c < utf8.RuneSelf:
			j, ok := asciiWord(text, i)
			if !ok {
				j = stretch(text, i)
				more = t.segment(text, i, j, yield)
			} else {
				more = t.word(text, i, j, yield)
			}
			i = j
		default:
			j := stretch(text, i)
			if i > 0 && (text[i-1] == '#' || text[i-1] == '*') && startsKeycap(text[i:j]) {
				i--
			}
			more = t.segment(text, i, j, yield)
			i = j
		}
	}
}

// spaces yields the text between white space.
func (t *Tokenizer) spaces(text []byte, yield func(Token) bool) {
	for start := 0; ; t.position++ {
		word := bytes.TrimLeftFunc(text[start:], unicode.IsSpace)
		if len(word) == 0 {
			return
		}
		start = len(text) - len(word)
		if end := bytes.IndexFunc(word, unicode.IsSpace); end >= 0 {
			word = word[:end]
		}
		if !yield(Token{Term: word[:min(len(word), MaxToken)], Position: t.position, Start: start, End: start + len(word)}) {
			return
		}
		start += len(word)
	}
}

// segment yields the tokens of text[from:to]. The valid runs of UTF-8 are segmented one by one, and in
// these the runs of each kind.
func (t *Tokenizer) segment(text []byte, from, to int, yield func(Token) bool) bool {
	for from < to {
		valid := from + ValidPrefix(text[from:to])
		for from < valid {
			start, end, k := t.run(text, from, valid)
			if !t.segmentWords(text, from, start, yield) {
				return false
			}
			if k == emojiKind && !t.emoji(text, start, end, yield) || k == clusterKind && !t.clusters(text, start, end, yield) {
				return false
			}
			from = end
		}
		from++ // a byte that is no UTF-8
	}
	return true
}

// segmentWords yields the words of valid UTF-8 by the tables of UAX #29.
func (t *Tokenizer) segmentWords(text []byte, from, to int, yield func(Token) bool) bool {
	t.words.SetText(text[from:to])
	for t.words.Next() {
		if beginsWord(t.words.Value()) && !t.word(text, from+t.words.Start(), from+t.words.End(), yield) {
			return false
		}
	}
	return true
}

// ValidPrefix returns the length of the longest prefix of s that is valid UTF-8.
func ValidPrefix(s []byte) int {
	if utf8.Valid(s) {
		return len(s)
	}
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRune(s[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// beginsWord reports whether a segment of UAX #29 is a word: segments between words, such as spaces, are none.
func beginsWord(segment []byte) bool {
	if c := class[segment[0]]; c != nonASCII {
		return c != other && c != middle
	}
	r, _ := utf8.DecodeRune(segment)
	return unicode.IsLetter(r) || unicode.In(r, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic)
}

// word yields the term of the word text[start:end], unless it is a stop word or holds neither letter
// nor digit ("__").
func (t *Tokenizer) word(text []byte, start, end int, yield func(Token) bool) bool {
	if !t.lower(text[start:end]) {
		return true
	}
	more := t.finish(start, end, yield)
	t.position++
	return more
}

// finish stems t.term and yields it, unless it is a stop word.
func (t *Tokenizer) finish(start, end int, yield func(Token) bool) bool {
	if t.plain {
		return yield(Token{Term: t.term, Position: t.position, Start: start, End: end})
	}
	if t.stops() {
		return true
	}
	if t.analyzer.settings.Stemmer == StemPorter {
		if t.term = possessive(t.term); t.stops() {
			return true
		}
	}
	if t.analyzer.stem != nil {
		if stem := t.stems.get(t.term, t.analyzer.stem); stem != "" {
			t.term = append(t.term[:0], stem...)
		}
	}
	return yield(Token{Term: t.term, Position: t.position, Start: start, End: end})
}

// stops reports whether t.term is a stop word.
func (t *Tokenizer) stops() bool {
	_, stop := t.analyzer.stop[string(t.term)]
	return stop
}

// lower writes word to t.term: lower-cased, in normal form C, folded if the settings say so, and cut at
// MaxTerm bytes. It reports whether that holds a letter or a digit.
func (t *Tokenizer) lower(word []byte) (ok bool) {
	var n int
	t.term, n, ok = lowerASCII(t.term[:0], word[:min(len(word), MaxTerm)])
	if n == len(word) || n == MaxTerm {
		return ok
	}
	if plain := t.rewrite(word); plain != "" {
		t.wide = append(t.wide[:0], plain...)
		word = t.wide
		t.term, n, ok = lowerASCII(t.term[:0], word[:min(len(word), MaxTerm)])
	}
	term, ascii := t.term, n
	for n < len(word) && len(term) < MaxTerm {
		r, size := utf8.DecodeRune(word[n:])
		r = unicode.ToLower(r)
		if len(term)+utf8.RuneLen(r) > MaxTerm {
			break
		}
		ok = ok || unicode.IsLetter(r) || unicode.In(r, unicode.Nd, unicode.Nl)
		term = utf8.AppendRune(term, r)
		n += size
	}
	if len(term) > ascii && !composed(term) { // a small letter may compose where its capital does not
		term = append(term[:0], t.rewritten.get(term, compose)...)
	}
	t.term = term
	return ok
}

// rewrite returns a word with characters beyond ASCII folded, or composed; "" if it stays.
func (t *Tokenizer) rewrite(word []byte) string {
	switch {
	case t.folder != nil:
		return t.rewritten.get(word, t.folder.fold)
	case !composed(word):
		return t.rewritten.get(word, compose)
	}
	return ""
}

// lowerASCII appends the ASCII characters at the start of word, lower-cased. It returns their number, and
// whether one of them is no joiner. It handles eight of them at a time: a term that is written byte by
// byte cannot be read at once by the lexicon of a build.
func lowerASCII(dst, word []byte) (term []byte, i int, ok bool) {
	const each = 0x0101010101010101
	for i < len(word) {
		n := min(len(word)-i, 8)
		var eight uint64
		if cap(word)-i >= 8 { // most words lie in larger memory
			eight = binary.LittleEndian.Uint64(word[i:i+8]) & (^uint64(0) >> (64 - 8*n))
		} else {
			var b [8]byte
			copy(b[:], word[i:])
			eight = binary.LittleEndian.Uint64(b[:])
		}
		beyond := eight & (0x80 * each)
		if beyond != 0 {
			n = bits.TrailingZeros64(beyond) / 8
			eight &= 1<<(8*n) - 1
		}
		ok = ok || eight != '_'*each>>(64-8*n)
		// A sum has bit 7 if the character is at least A, or is above Z.
		capitals := (eight + (0x80-'A')*each) ^ (eight + (0x80-'Z'-1)*each)
		dst = binary.LittleEndian.AppendUint64(dst, eight|capitals&(0x80*each)>>2)
		dst = dst[:len(dst)-8+n]
		i += n
		if beyond != 0 {
			break
		}
	}
	return dst, i, ok
}
