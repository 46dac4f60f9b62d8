// Package trec reads and writes the files of retrieval evaluations: topics, runs and
// relevance judgements (qrels). From runs and qrels it computes the measures of trec_eval.
//
// A run file has a line "QUERY Q0 DOCUMENT RANK SCORE TAG" for each retrieved document, a
// qrels file a line "QUERY ITERATION DOCUMENT RELEVANCE" for each judged document. Fields
// are separated by white space; empty lines and lines that begin with # are skipped. An
// error in a file is an *Error.
package trec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"heddle/engine/file/input"
)

// Error is a file whose content is wrong.
type Error struct {
	Path string
	Line int // line of the document in the file, from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// MaxLine bounds a line, and a topic of several lines, in bytes.
const MaxLine = 1 << 20

// scan gives every line of r that is not empty to line, with its number, until line
// returns an error: errStop ends the scan without an error, any other error becomes an
// *Error of that line. The length of a line above MaxLine goes to long. Lines end in LF or
// CR LF, or in CR if the file has no LF. Text is UTF-8, or UTF-16 with a byte order mark.
func scan(path string, r io.Reader, line func(number int, text string) error, long func(number int, length int64) error) error {
	lines, number := input.Decode(r), 0
	give := func(text string, length int64) error {
		if number++; number == 1 {
			text = strings.TrimPrefix(text, input.Mark)
		}
		var err error
		switch {
		case length > MaxLine:
			err = long(number, length)
		case text != "":
			err = line(number, text)
		}
		if err != nil && err != errStop {
			return &Error{path, number, err}
		}
		return err
	}
	for {
		text, length, ended, err := readLine(lines)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			if damage := input.Explain(path, -1, err); damage != err {
				return damage
			}
			return fmt.Errorf("%s: %w", path, err)
		case number == 0 && !ended && length <= MaxLine: // there is no LF
			for part := range strings.SplitSeq(text, "\r") {
				if err = give(part, int64(len(part))); err != nil {
					break
				}
			}
		default:
			err = give(text, length)
		}
		if err == errStop {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// readLine reads a line and its length without its end, and whether it ends in LF. It drops
// the text of a line above MaxLine. The error io.EOF says that there is no further line.
func readLine(r *bufio.Reader) (text string, length int64, ended bool, err error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if length += int64(len(part)); length <= MaxLine+int64(len("\r\n")) {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && (err != io.EOF || length == 0) {
			return "", 0, false, err
		}
		if length == int64(len(line)) {
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			length = int64(len(line))
		}
		if length > MaxLine {
			line = nil
		}
		return string(line), length, err == nil, nil
	}
}

// errLong is the error of a line above MaxLine.
func errLong(length int64) error {
	return fmt.Errorf("a line of %d bytes; at most %d are possible", length, MaxLine)
}

var errStop = errors.New("stop")

// scanFields gives the fields of every line that is no comment to line.
func scanFields(path string, r io.Reader, line func(number int, fields []string) error) error {
	return scan(path, r, func(number int, text string) error {
		fields := strings.FieldsFunc(text, isSpace)
		if len(fields) == 0 || fields[0][0] == '#' {
			return nil
		}
		return line(number, fields)
	}, func(_ int, length int64) error { return errLong(length) })
}

// isSpace follows the C locale, in which a no-break space is part of a name.
func isSpace(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' }
