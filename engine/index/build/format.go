package build

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/file/input"
	"heddle/engine/index/build/inverted"
	"heddle/engine/index/build/records"
	"heddle/engine/index/build/source"
	"heddle/engine/syntax/pattern"
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
func prepare(s *source.Reader, f Format) (Format, error) {
	head, err := headOf(s)
	if err != nil {
		return f, err
	}
	if f == Auto && records.IsWARC(head) {
		f = WARC
	}
	if f == WARC && !records.IsWARC(bytes.TrimLeft(head, "\r\n")) {
		return f, s.Errorf("no WARC record: the input begins with %.40q, not with WARC/", head[:min(len(head), 40)])
	}
	if f != CIFF && f != WARC && !(f == Auto && isCIFF(s.Path, head)) {
		if err := s.Text(); err != nil {
			return f, err
		}
		if head, err = headOf(s); err != nil {
			return f, err
		}
	}
	if f == Auto {
		f, err = detect(s.Path, head)
	}
	if err == nil && f == JSONL && bytes.HasPrefix(records.Start(head), []byte("[")) {
		err = errArray(s.Path)
	}
	return f, err
}

// headOf shows the start of the input.
func headOf(s *source.Reader) ([]byte, error) {
	head, err := s.Peek(peekSize)
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
		if !records.LooksLikeTREC(head) {
			return "", errPage(path, "HTML")
		}
	case ".tsv", ".txt": // topics and collections of TREC are often called .txt
		if !records.LooksLikeTREC(head) {
			return checkText(path, head)
		}
	}
	switch {
	case isCIFF(path, head):
		return CIFF, nil
	case records.LooksLikeTREC(head):
		return TREC, nil
	case bytes.HasPrefix(records.Start(head), []byte("{")):
		return JSONL, nil
	case bytes.IndexByte(head, 0) >= 0:
		return "", source.Position{}.Errorf(path, "no format that auto knows: binary data")
	}
	return checkText(path, head)
}

// checkText is Text, unless the input is CSV, a JSON array, HTML or XML.
func checkText(path string, head []byte) (Format, error) {
	switch {
	case looksLikeCSV(head):
		return "", errCSV(path)
	case arrayOfObjects().Match(records.Start(head)):
		return "", errArray(path)
	}
	if m := page().Find(records.Start(head)); m != nil {
		name := "HTML"
		if bytes.HasPrefix(m, []byte("<?")) {
			name = "XML"
		}
		return "", errPage(path, name)
	}
	return Text, nil
}

var (
	arrayOfObjects = pattern.New(`^\[\s*\{\s*["}]`)
	page           = pattern.New(`(?i)^(?:<\?xml\s|<!doctype\s|(?:<!--|<html|<head|<body)[\s>])`)
)

// orText is the other way to read a format that Auto refuses.
const orText = "; with --format text, each line is a text"

func errCSV(path string) error {
	return source.Position{}.Error(path, "CSV: convert it to NAME TAB TEXT or to JSON lines"+orText)
}

func errPage(path, format string) error {
	return source.Position{}.Error(path, format+": extract its text first, for example as JSON lines"+orText)
}

func errArray(path string) error {
	return source.Position{}.Error(path, "a JSON array: write one object per line (jsonl), for example with jq -c '.[]'")
}

// extension is the extension of a file name in lower case, without the extension of a compression.
func extension(path string) string { return filepath.Ext(input.TrimSuffix(strings.ToLower(path))) }

// isCIFF reports whether an input is CIFF by its name or its content.
func isCIFF(path string, head []byte) bool {
	return extension(path) == ".ciff" || inverted.LooksLikeCIFF(head)
}

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
