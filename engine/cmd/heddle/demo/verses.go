package demo

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
)

// verse is one document: its reference ("Ge1:1") and its text.
type verse struct{ ref, text string }

// readVerses reads a gzipped file of lines REFERENCE TAB TEXT.
func readVerses(path string) ([]verse, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var verses []verse
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		ref, text, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			return nil, fmt.Errorf("%s: line %d has no tab", path, len(verses)+1)
		}
		verses = append(verses, verse{ref, text})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", path, len(verses)+1, err)
	}
	return verses, nil
}

// scanner answers queries from the text, without index and analyzer. All backends are
// compared with it.
type scanner struct {
	words []map[string]bool // words of each verse
	total int
}

func newScanner(verses []verse) *scanner {
	s := &scanner{words: make([]map[string]bool, len(verses))}
	for i, v := range verses {
		set := map[string]bool{}
		for _, w := range words(v.text) {
			set[w] = true
			s.total++
		}
		s.words[i] = set
	}
	return s
}

// search returns the numbers of the verses with all words of the query.
func (s *scanner) search(query string) []uint32 {
	wanted := words(query)
	var docs []uint32
	for i, set := range s.words {
		if len(wanted) > 0 && !slices.ContainsFunc(wanted, func(w string) bool { return !set[w] }) {
			docs = append(docs, uint32(i))
		}
	}
	return docs
}

// words splits a text into runs of letters and digits in lower case. An apostrophe or
// colon inside a word (king's) belongs to it. For this text the result is identical to
// the word boundaries of the analyzer.
func words(text string) []string {
	inside := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == ':' }
	var list []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !inside(r) }) {
		if w = strings.Trim(w, "':"); w != "" {
			list = append(list, w)
		}
	}
	return list
}
