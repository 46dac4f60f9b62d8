package analyze

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/segment"
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

// Tokenizer analyses one text after another. It is cheap to make, and is not
// safe for concurrent use.
type Tokenizer struct {
	analyzer *Analyzer
	document bool    // of documents: see Analyzer.Documents
	term     []byte  // scratch: the term being made
	folder   *folder // nil: none
	wide     []byte  // scratch: the folded word
	made     []byte  // text of the term, a view of the input up to its capacity
	stems    cache
	folded   cache
}

// Each calls emit for every term of text, in order. A term is valid until emit
// returns and must not be changed. Text may hold any bytes; a run of bytes that
// is no UTF-8 ends a word, but not a token between white space. In a steady state
// Each allocates nothing but the stems it has not met.
func (t *Tokenizer) Each(text []byte, emit func(term []byte)) {
	if t.analyzer.settings.Tokens == TokensSpaces {
		for rest := bytes.TrimLeftFunc(text, unicode.IsSpace); len(rest) > 0; rest = bytes.TrimLeftFunc(rest, unicode.IsSpace) {
			end := bytes.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			t.made, rest = rest[:end], rest[end:]
			emit(t.made[:min(end, MaxToken)])
		}
		return
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case class[c] == other || class[c] == middle:
			i++ // separates, since no word stands before it
		case c < utf8.RuneSelf:
			j, ok := asciiWord(text, i)
			if !ok {
				j = stretch(text, i)
				t.segment(text[i:j], emit)
			} else {
				t.word(text[i:j], emit)
			}
			i = j
		default:
			j := stretch(text, i)
			t.segment(text[i:j], emit)
			i = j
		}
	}
}

// EachAt is Each with the place of each term in the text: text[start:end].
func (t *Tokenizer) EachAt(text []byte, emit func(term []byte, start, end int)) {
	t.Each(text, func(term []byte) {
		start := cap(text) - cap(t.made)
		emit(term, start, start+len(t.made))
	})
}

// segment emits the words of s by the tables of UAX #29, and pairs of clusters in
// unspaced scripts. The segmenter stops at bytes that are no UTF-8, so it gets the
// valid runs one by one.
func (t *Tokenizer) segment(s []byte, emit func([]byte)) {
	for len(s) > 0 {
		n := ValidPrefix(s)
		for valid := s[:n]; len(valid) > 0; {
			start, end := unspacedRun(valid)
			t.words(valid[:start], emit)
			if start < end {
				t.clusters(valid[start:end], emit)
			}
			valid = valid[end:]
		}
		s = s[min(n+1, len(s)):]
	}
}

// words emits the words of valid UTF-8 by the tables of UAX #29.
func (t *Tokenizer) words(valid []byte, emit func([]byte)) {
	for len(valid) > 0 {
		advance, word, kind, err := segment.SegmentWords(valid, true)
		if err != nil || advance <= 0 {
			_, advance = utf8.DecodeRune(valid) // not seen on valid text; continue behind it
			kind = segment.None
		}
		if kind != segment.None {
			t.word(word, emit)
		}
		valid = valid[advance:]
	}
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

// word makes a term of a word, and emits it unless it is a stop word or holds
// neither letter nor digit ("__").
func (t *Tokenizer) word(word []byte, emit func([]byte)) {
	t.made = word
	if !t.lower(word) {
		return
	}
	if t.stops() {
		return
	}
	if t.analyzer.settings.Stemmer == StemPorter {
		if t.term = possessive(t.term); t.stops() {
			return
		}
	}
	if t.analyzer.stem != nil {
		if stem := t.stems.get(t.term, t.analyzer.stem); stem != "" {
			t.term = append(t.term[:0], stem...)
		}
	}
	emit(t.term)
}

// stops reports whether t.term is a stop word.
func (t *Tokenizer) stops() bool {
	_, stop := t.analyzer.stop[string(t.term)]
	return stop
}

// lower writes word to t.term, folded if the settings say so, lower-cased and cut at
// MaxTerm bytes, and reports whether that holds a letter or a digit.
func (t *Tokenizer) lower(word []byte) bool {
	if t.folder != nil && !isASCII(word) {
		word = append(t.wide[:0], t.folded.get(word, t.folder.fold)...)
		t.wide = word
	}
	term, i, ok := lowerASCII(t.term[:0], word[:min(len(word), MaxTerm)])
	for i < len(word) && len(term) < MaxTerm {
		r, size := utf8.DecodeRune(word[i:])
		r = unicode.ToLower(r)
		if len(term)+utf8.RuneLen(r) > MaxTerm {
			break
		}
		ok = ok || unicode.IsLetter(r) || unicode.IsNumber(r)
		term = utf8.AppendRune(term, r)
		i += size
	}
	t.term = term
	return ok
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

func isASCII(word []byte) bool {
	for _, c := range word {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
