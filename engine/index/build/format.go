package build

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"heddle/engine/file/input"
)

// Format names an input format. The package comment describes each.
type Format string

const (
	Auto  Format = "auto"
	Text  Format = "text"
	JSONL Format = "jsonl"
	TREC  Format = "trec"
	PISA  Format = "pisa"
	CIFF  Format = "ciff"
)

// Formats returns all of them, Auto first.
func Formats() []Format { return []Format{Auto, Text, JSONL, TREC, PISA, CIFF} }

// ParseFormat finds a format by its name, in any case.
func ParseFormat(s string) (Format, error) {
	for _, f := range Formats() {
		if strings.EqualFold(s, string(f)) {
			return f, nil
		}
	}
	return "", fmt.Errorf("unknown format %q (one of %v)", s, Formats())
}

// peekSize is how much of an input Auto looks at, after decompression.
const peekSize = 8 << 10

// detect finds the format of s without consuming a byte.
func (s *source) detect() (Format, error) {
	head, err := s.peek(peekSize)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", err
	}
	return detect(s.path, head)
}

// detect finds the format of an input from its name and its first peekSize bytes (fewer
// in a shorter input).
func detect(path string, head []byte) (Format, error) {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	for suffix, f := range map[string]Format{
		".ciff": CIFF, ".jsonl": JSONL, ".ndjson": JSONL, ".tsv": Text, ".txt": Text,
	} {
		// Topics and collections of TREC are often called .txt.
		if strings.HasSuffix(name, suffix) && !(f == Text && looksLikeTREC(head)) {
			return f, nil
		}
	}
	switch {
	case looksLikeCIFF(head):
		return CIFF, nil
	case looksLikeTREC(head):
		return TREC, nil
	case bytes.HasPrefix(start(head), []byte("{")):
		return JSONL, nil
	case bytes.IndexByte(head, 0) >= 0:
		return "", position{}.errorf(path, "no format that auto knows: binary data")
	}
	return Text, nil
}

// start skips a byte order mark and white space.
func start(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte(input.Mark)), " \t\r\n")
}

// looksLikeTREC reports whether head is markup and has a <DOC>.
func looksLikeTREC(head []byte) bool {
	head = start(head)
	for markup := bytes.HasPrefix(head, []byte("<")); markup; {
		if bytes.EqualFold(tagName(head), []byte("DOC")) {
			return true
		}
		next := bytes.IndexByte(head[1:], '<')
		markup = next >= 0
		head = head[1+max(next, 0):]
	}
	return false
}

// looksLikeCIFF reports whether head starts with a CIFF header and fits no other format:
// the length, then only fields of the header, version 1.
func looksLikeCIFF(head []byte) bool {
	r := wire{rest: head}
	n, ok := r.uvarint()
	if !ok || n > uint64(len(r.rest)) {
		return false
	}
	h, err := parseHeader(r.rest[:n])
	return err == nil && h.version == 1 && !h.unknown
}
