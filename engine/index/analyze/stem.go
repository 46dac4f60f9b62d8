package analyze

import (
	"bytes"
	"maps"
	"slices"

	porter "github.com/blevesearch/go-porterstemmer"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// Names of frequent stemmers; Stemmers lists all of them. The empty string is StemNone.
const (
	StemNone    = "none"
	StemEnglish = "english" // Snowball English, also called Porter 2
	StemPorter  = "porter"  // Porter's first stemmer, as in Lucene, Anserini and Terrier; cuts possessive 's before
)

// stemmers are the stemmers by name. A word comes lower-cased.
var stemmers = map[string]func(word string) string{
	StemEnglish:  snowball(english.Stem),
	StemPorter:   stemPorter,
	"arabic":     snowball(arabic.Stem),
	"danish":     snowball(danish.Stem),
	"dutch":      snowball(dutch.Stem),
	"finnish":    snowball(finnish.Stem),
	"french":     snowball(french.Stem),
	"german":     snowball(german.Stem),
	"hungarian":  snowball(hungarian.Stem),
	"irish":      snowball(irish.Stem),
	"italian":    snowball(italian.Stem),
	"norwegian":  snowball(norwegian.Stem),
	"portuguese": snowball(portuguese.Stem),
	"romanian":   snowball(romanian.Stem),
	"russian":    snowball(russian.Stem),
	"spanish":    snowball(spanish.Stem),
	"swedish":    snowball(swedish.Stem),
	"tamil":      snowball(tamil.Stem),
	"turkish":    snowball(turkish.Stem),
}

// stemPorter is Porter's reference program. The package porter takes words that are a suffix as a whole
// for words with a shorter suffix.
func stemPorter(word string) string {
	switch word {
	case "sses":
		return "ss"
	case "ies":
		return "i"
	case "eed":
		return "eed"
	}
	return string(porter.StemWithoutLowerCasing([]rune(word)))
}

// possessive returns a word without a possessive 's.
func possessive(word []byte) []byte {
	for _, suffix := range []string{"'s", "\u2019s", "\uff07s"} {
		if stem, found := bytes.CutSuffix(word, []byte(suffix)); found {
			return stem
		}
	}
	return word
}

// Stemmers returns the names of all stemmers: StemNone, then the other names in order.
func Stemmers() []string {
	return append([]string{StemNone}, slices.Sorted(maps.Keys(stemmers))...)
}

func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(word string) string {
		env := snowballstem.NewEnv(word)
		stem(env)
		return env.Current()
	}
}
