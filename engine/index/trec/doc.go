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
)

// Error is a file whose content is wrong.
type Error struct {
	Path string
	Line int // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// MaxLine bounds a line, and a topic of several lines, in bytes.
const MaxLine = 1 << 20

// scan gives every line of r that is not empty to line, with its number, until line
// returns an error: errStop ends the scan without an error, any other error becomes an
// *Error of that line. A line above MaxLine goes to long. The byte order mark and CR are
// removed.
func scan(path string, r io.Reader, line func(number int, text string) error, long func(number int) error) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		text, tooLong, err := readLine(lines)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if number == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		switch {
		case tooLong:
			err = long(number)
		case text != "":
			err = line(number, text)
		}
		if err == errStop {
			return nil
		} else if err != nil {
			return &Error{path, number, err}
		}
	}
}

// readLine reads a line without its end. A line above MaxLine is read and dropped. The error
// io.EOF says that there is no further line.
func readLine(r *bufio.Reader) (text string, tooLong bool, err error) {
	var line []byte
	for n := 0; ; n++ {
		part, err := r.ReadSlice('\n')
		tooLong = tooLong || len(line)+len(part) > MaxLine+len("\r\n")
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (n > 0 || len(part) > 0), err == nil:
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			return string(line), tooLong || len(line) > MaxLine, nil
		default:
			return "", false, err
		}
	}
}

// errLong is the error of a line above MaxLine.
var errLong = fmt.Errorf("a line of more than %d bytes", MaxLine)

var errStop = errors.New("stop")

// scanFields gives the fields of every line that is no comment to line.
func scanFields(path string, r io.Reader, line func(number int, fields []string) error) error {
	return scan(path, r, func(number int, text string) error {
		fields := strings.FieldsFunc(text, isSpace)
		if len(fields) == 0 || fields[0][0] == '#' {
			return nil
		}
		return line(number, fields)
	}, func(int) error { return errLong })
}

// isSpace follows the C locale, in which a no-break space is part of a name.
func isSpace(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' }
