package build

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
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
	WARC  Format = "warc"
	PISA  Format = "pisa"
	CIFF  Format = "ciff"
)

// Formats returns all of them, Auto first.
func Formats() []Format { return []Format{Auto, Text, JSONL, TREC, WARC, PISA, CIFF} }

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

// prepare finds the format if it is Auto, and prepares an input of text.
func (s *source) prepare(f Format) (Format, error) {
	head, err := s.head()
	if err != nil {
		return f, err
	}
	if f == Auto && isWARC(head) {
		f = WARC
	}
	if f == WARC && !isWARC(bytes.TrimLeft(head, "\r\n")) {
		return f, s.errorf("no WARC record: the input begins with %.40q, not with WARC/", head[:min(len(head), 40)])
	}
	if f != CIFF && f != WARC && !(f == Auto && isCIFF(s.path, head)) {
		if err := s.text(); err != nil {
			return f, err
		}
		if head, err = s.head(); err != nil {
			return f, err
		}
	}
	if f == Auto {
		f, err = detect(s.path, head)
	}
	if err == nil && f == JSONL && bytes.HasPrefix(start(head), []byte("[")) {
		err = errArray(s.path)
	}
	return f, err
}

// head shows the start of the input.
func (s *source) head() ([]byte, error) {
	head, err := s.peek(peekSize)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head, err
}

// detect finds the format of an input from its name and its first peekSize bytes (fewer
// in a shorter input).
func detect(path string, head []byte) (Format, error) {
	switch extension(path) {
	case ".jsonl", ".ndjson":
		return JSONL, nil
	case ".csv":
		return "", errCSV(path)
	case ".html", ".htm":
		if !looksLikeTREC(head) {
			return "", errPage(path, "HTML")
		}
	case ".tsv", ".txt": // topics and collections of TREC are often called .txt
		if !looksLikeTREC(head) {
			return checkText(path, head)
		}
	}
	switch {
	case isCIFF(path, head):
		return CIFF, nil
	case looksLikeTREC(head):
		return TREC, nil
	case bytes.HasPrefix(start(head), []byte("{")):
		return JSONL, nil
	case bytes.IndexByte(head, 0) >= 0:
		return "", position{}.errorf(path, "no format that auto knows: binary data")
	}
	return checkText(path, head)
}

// checkText is Text, unless the input is CSV, a JSON array, HTML or XML.
func checkText(path string, head []byte) (Format, error) {
	switch {
	case looksLikeCSV(head):
		return "", errCSV(path)
	case arrayOfObjects.Match(start(head)):
		return "", errArray(path)
	}
	if m := page.Find(start(head)); m != nil {
		name := "HTML"
		if bytes.HasPrefix(m, []byte("<?")) {
			name = "XML"
		}
		return "", errPage(path, name)
	}
	return Text, nil
}

var (
	arrayOfObjects = regexp.MustCompile(`^\[\s*\{\s*["}]`)
	page           = regexp.MustCompile(`(?i)^(?:<\?xml\s|<!doctype\s|(?:<!--|<html|<head|<body)[\s>])`)
)

// orText is the other way to read a format that Auto refuses.
const orText = "; with --format text, each line is a text"

func errCSV(path string) error {
	return position{}.error(path, "CSV: convert it to NAME TAB TEXT or to JSON lines"+orText)
}

func errPage(path, format string) error {
	return position{}.error(path, format+": extract its text first, for example as JSON lines"+orText)
}

func errArray(path string) error {
	return position{}.error(path, "a JSON array: write one object per line (jsonl), for example with jq -c '.[]'")
}

// extension is the extension of a file name in lower case, without the extension of a compression.
func extension(path string) string { return filepath.Ext(input.TrimSuffix(strings.ToLower(path))) }

// isCIFF reports whether an input is CIFF by its name or its content.
func isCIFF(path string, head []byte) bool { return extension(path) == ".ciff" || looksLikeCIFF(head) }

// looksLikeCSV reports whether head has at least csvRecords records of the same number of
// fields, at least two, without a TAB, and without white space behind a comma.
func looksLikeCSV(head []byte) bool {
	if len(head) == peekSize { // the last line may be incomplete
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	if bytes.IndexByte(head, '\t') >= 0 {
		return false
	}
	r := csv.NewReader(bytes.NewReader(head))
	for n := 0; ; n++ {
		fields, err := r.Read()
		if err != nil {
			return err == io.EOF && n >= csvRecords
		}
		spaced := func(field string) bool { return strings.HasPrefix(field, " ") }
		if len(fields) < 2 || slices.ContainsFunc(fields, spaced) {
			return false
		}
	}
}

// csvRecords is the number of records by which CSV is recognised.
const csvRecords = 3

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

// isWARC reports whether an input begins with a record of a web archive, as WARC and WET files do.
func isWARC(head []byte) bool { return bytes.HasPrefix(head, []byte("WARC/")) }

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
