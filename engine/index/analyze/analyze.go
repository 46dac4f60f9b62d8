// Package analyze turns text into terms: Unicode words (UAX #29), lower-cased, without
// stop words, optionally folded and stemmed.
//
// An index stores the Settings of its build. Queries are analysed with the same
// settings, so that a word in a query finds the same word in a document.
//
//	text      "The Weavers' loom-2 doesn't stop."
//	words     The  Weavers  loom  2  doesn't  stop
//	terms     the  weavers  loom  2  doesn't  stop       (Settings{})
//	terms     weaver  loom  2  doesn't  stop             (english, stop word "the")
//
// A word contains a letter or a digit of any script. Some marks inside a word stay: 3.14, don't,
// example.com, foo_bar. Lower-casing is the simple mapping of Unicode, character by character,
// independent of the language. Terms are in normal form C, so that a precomposed letter and its
// decomposed form are one term. Invalid UTF-8 separates words. Emoji are terms, each with its
// modifiers and joiners: flags, keycaps and families are one.
//
// Thai, Lao, Burmese and Khmer, which write no spaces between words, give overlapping
// pairs of grapheme clusters, so that a word finds every text that contains it. Chinese, Japanese and
// Korean do, too, with CJKBigrams, like the CJK analyser of Lucene: 東京都 gives 東京 and 京都. The terms
// of a document include the single clusters, as with the option outputUnigrams there; a query has one
// only where it stands alone. So Hangul and Katakana beside Latin letters or digits begin a new word.
// With CJKUnigrams, ideographs and Hiragana are words of one character; Katakana and Hangul form words
// by runs, as in UAX #29.
//
// With Settings.Fold, words that differ in their spelling alone are one term: café, CAFÉ,
// cafe; Straße and STRASSE; fullwidth and halfwidth letters; don't and don’t. Compatible characters
// become one (NFKC), case is folded, and these go: accents of Latin and Greek letters, points of
// Hebrew, vowels and tatweel of Arabic, the dots of the Russian ё and the acute of Cyrillic stress, and
// characters that are not seen, such as soft hyphens, joiners and variation selectors. Apostrophes
// become one. Letters with strokes and ligatures become plain: ł l, ø o, đ d, æ ae, þ th.
// Folding precedes stop words and stemming. Stemmers of languages with accents know fewer
// words of folded text.
//
// TokensSpaces is for terms from another analyser, such as the word pieces of a language
// model: text is cut at white space, and terms stay unchanged.
package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/words"
)

// MaxTerm is the length in bytes at which a word is cut, at a character
// boundary, before it is looked up among the stop words or stemmed. Words of one
// another that share their first MaxTerm bytes are thus the same term.
const MaxTerm = 255

// Values of Settings.Tokens; the empty string is TokensWords.
const (
	TokensWords  = "words"      // words by UAX #29, in lower case
	TokensSpaces = "whitespace" // text between white space, unchanged
)

// MaxToken is the length in bytes at which a token between white space is cut.
const MaxToken = 64 << 10

// Rules is the number of the rules of analysis that this package has. A file stores the number; files
// with another number are refused, because their terms would not be found.
const Rules = 1

// Values of Settings.CJK.
const (
	CJKBigrams  = "bigrams"
	CJKUnigrams = "unigrams"
)

// Settings determine which terms a text has. The zero value keeps every word
// and stems none.
type Settings struct {
	Rules     int      // 0: Rules, which is the only other value
	Tokens    string   // TokensWords, or TokensSpaces: then nothing else
	CJK       string   // CJKBigrams, the default of TokensWords, or CJKUnigrams; "" with TokensSpaces
	Fold      bool     // folds words
	Stemmer   string   // one of Stemmers
	StopWords []string // dropped before stemming; compared lower-cased
}

// Analyzer analyses by fixed settings. It is immutable and safe for concurrent
// use; the work is done by Tokenizers, one a goroutine.
type Analyzer struct {
	settings Settings
	stem     func(word string) string // nil: none
	stop     map[string]struct{}
}

// New checks the settings and returns an analyzer for them. It keeps no
// reference to s.StopWords.
func New(s Settings) (*Analyzer, error) {
	if s.Rules = cmp.Or(s.Rules, Rules); s.Rules != Rules {
		return nil, fmt.Errorf("analysis rules %d: this build has the rules %d", s.Rules, Rules)
	}
	s.Stemmer = cmp.Or(strings.ToLower(s.Stemmer), StemNone)
	stem := stemmers[s.Stemmer]
	if stem == nil && s.Stemmer != StemNone {
		return nil, fmt.Errorf("unknown stemmer %q (one of %s)", s.Stemmer, strings.Join(Stemmers(), ", "))
	}
	switch s.Tokens = strings.ToLower(s.Tokens); s.Tokens {
	case "":
		s.Tokens = TokensWords
	case TokensWords:
	case TokensSpaces:
		if s.Fold || s.Stemmer != StemNone || len(s.StopWords) > 0 || s.CJK != "" {
			return nil, fmt.Errorf("tokens between white space stay as they are: folding, a stemmer (%s), stop words (%d) and a rule for CJK words (%s) do not go with them",
				s.Stemmer, len(s.StopWords), cmp.Or(s.CJK, "none"))
		}
	default:
		return nil, fmt.Errorf("unknown tokens %q (one of %s, %s)", s.Tokens, TokensWords, TokensSpaces)
	}
	if s.CJK = strings.ToLower(s.CJK); s.Tokens == TokensWords {
		s.CJK = cmp.Or(s.CJK, CJKBigrams)
		if s.CJK != CJKBigrams && s.CJK != CJKUnigrams {
			return nil, fmt.Errorf("unknown rule %q for CJK words (one of %s, %s)", s.CJK, CJKBigrams, CJKUnigrams)
		}
	}
	a := &Analyzer{stem: stem, stop: make(map[string]struct{}, len(s.StopWords))}
	tokens := (&Analyzer{settings: Settings{Fold: s.Fold, CJK: s.CJK}}).Tokenizer()
	for _, w := range s.StopWords {
		for token := range tokens.Tokens([]byte(w)) {
			a.stop[string(token.Term)] = struct{}{}
		}
	}
	s.StopWords = make([]string, 0, len(a.stop))
	for w := range a.stop {
		s.StopWords = append(s.StopWords, w)
	}
	slices.Sort(s.StopWords)
	a.settings = s
	return a, nil
}

// Settings returns the settings of the analyzer in canonical form: tokens and stemmer
// named, the stop words lower-cased, sorted and unique. The slice is shared and must not
// be changed.
func (a *Analyzer) Settings() Settings { return a.settings }

// Terms returns the terms of a query text in order, repeated terms too. Long texts go
// through a Tokenizer.
func (a *Analyzer) Terms(text string) []string {
	var terms []string
	for token := range a.Tokenizer().Tokens([]byte(text)) {
		terms = append(terms, string(token.Term))
	}
	return terms
}

// Documents returns a Tokenizer of documents. It differs in scripts without spaces alone: see
// the package comment.
func (a *Analyzer) Documents() *Tokenizer {
	t := a.Tokenizer()
	t.document = true
	return t
}

// Tokenizer returns a worker for queries, with its own scratch memory and stem cache.
func (a *Analyzer) Tokenizer() *Tokenizer {
	t := &Tokenizer{analyzer: a, plain: a.stem == nil && len(a.stop) == 0, words: words.FromBytes(nil), graphemes: graphemes.FromBytes(nil)}
	if a.settings.CJK == CJKBigrams {
		t.cjk = clusterKind
	}
	if a.settings.Fold {
		t.folder = newFolder()
	}
	return t
}
