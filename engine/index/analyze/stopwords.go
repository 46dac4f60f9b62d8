package analyze

import (
	"bytes"
	"fmt"
	"io"
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
