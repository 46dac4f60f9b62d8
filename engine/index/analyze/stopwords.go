package analyze

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// maxStopWords bounds a stop word file, in bytes; it guards against a document
// collection given by mistake.
const maxStopWords = 1 << 20

// ReadStopWords reads a list of stop words: one a line, empty lines allowed, #
// starts a comment that runs to the end of its line. UTF-8, with or without a
// byte order mark. The words come back as they stand; New lower-cases them.
func ReadStopWords(r io.Reader) ([]string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxStopWords+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxStopWords {
		return nil, fmt.Errorf("a list of stop words longer than %d bytes", maxStopWords)
	}
	var words []string
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		if line = bytes.TrimSpace(line); len(line) > 0 {
			words = append(words, string(line))
		}
	}
	return words, nil
}

// stopLists are lists of stop words by name.
var stopLists = map[string]string{
	// lucene is the list of EnglishAnalyzer in Lucene, which Anserini uses as well.
	"lucene": `a an and are as at be but by for if in into is it no not of on or such that the
their then there these they this to was will with`,
	// english is the list of Snowball.
	"english": `i me my myself we our ours ourselves you your yours yourself yourselves he him his
himself she her hers herself it its itself they them their theirs themselves what which who whom
this that these those am is are was were be been being have has had having do does did doing would
should could ought i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd
she'd we'd they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't
hadn't doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't let's
that's who's what's here's there's when's where's why's how's a an the and but if or because as
until while of at by for with about against between into through during before after above below to
from up down in out on off over under again further then once here there when where why how all any
both each few more most other some such no nor not only own same so than too very`,
}

// StopWords returns a list of stop words by its name; ok is false for an unknown name.
func StopWords(name string) (words []string, ok bool) {
	text, ok := stopLists[name]
	return strings.Fields(text), ok
}
