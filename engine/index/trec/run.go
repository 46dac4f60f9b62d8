package trec

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/engine/syntax"
)

// Retrieved is a document that a query found.
type Retrieved struct {
	Doc   string
	Score float64
}

// Run is the retrieved documents of each query, by its name, in the order of trec_eval:
// descending score, equal scores by descending name of the document. The ranks in the file
// do not count.
type Run struct {
	ID      string // TAG of the last line of the file, as trec_eval takes it
	Queries map[string][]Retrieved
}

// ReadRun reads a run file; path is for errors. A document that a query names
// twice, or a score that is no number, is an *Error.
func ReadRun(path string, r io.Reader) (Run, error) {
	run := Run{Queries: map[string][]Retrieved{}}
	at := map[string][]int{} // lines of the documents
	err := scanFields(path, r, func(number int, fields []string) error {
		if len(fields) < 6 {
			return fmt.Errorf("%d fields, want QUERY Q0 DOCUMENT RANK SCORE TAG", len(fields))
		}
		run.ID = fields[5]
		score, ok := syntax.ParseFloat(fields[4], 64)
		if !ok || math.IsNaN(score) {
			return fmt.Errorf("score %q is no number", fields[4])
		}
		query := fields[0]
		run.Queries[query] = append(run.Queries[query], Retrieved{fields[2], score})
		at[query] = append(at[query], number)
		return nil
	})
	if err != nil {
		return Run{}, err
	}
	for query, found := range run.Queries {
		if i, twice := duplicate(found, func(d Retrieved) string { return d.Doc }); twice {
			return Run{}, &Error{path, at[query][i], fmt.Errorf("query %q has document %q twice", query, found[i].Doc)}
		}
		order(found)
	}
	return run, nil
}

// IsRun tells a run from relevance judgements by the first line that has fields and is no
// comment: a line of a run has six fields or more. A file without lines is a run that found
// nothing. It reads from r without taking bytes, and looks at as many bytes as r buffers. path
// is for errors.
func IsRun(path string, r *bufio.Reader) (bool, error) {
	start, err := r.Peek(r.Size())
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	fields := 0
	err = scanFields(path, bytes.NewReader(start), func(_ int, f []string) error {
		fields = len(f)
		return errStop
	})
	return fields == 0 || fields > 4, err
}

// order sorts the documents of a query in the order of trec_eval.
func order(found []Retrieved) {
	slices.SortFunc(found, func(a, b Retrieved) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Doc, a.Doc))
	})
}

// duplicate finds the first entry whose name has occurred before.
func duplicate[T any](entries []T, name func(T) string) (int, bool) {
	seen := make(map[string]struct{}, len(entries))
	for i, e := range entries {
		if _, twice := seen[name(e)]; twice {
			return i, true
		}
		seen[name(e)] = struct{}{}
	}
	return 0, false
}

// AppendLine appends a line of a run file to dst. White space in names, which
// would end a field, becomes _, and so does an empty name.
func AppendLine(dst []byte, query, doc string, rank int, score float64, tag string) []byte {
	dst = append(appendField(dst, query), " Q0 "...)
	dst = append(appendField(dst, doc), ' ')
	dst = append(strconv.AppendInt(dst, int64(rank), 10), ' ')
	dst = append(AppendScore(dst, score), ' ')
	return append(appendField(dst, tag), '\n')
}

// AppendScore appends the shortest decimal that reads as the same float64, so that
// no two scores become equal.
func AppendScore(dst []byte, score float64) []byte {
	return strconv.AppendFloat(dst, score, 'f', -1, 64)
}

// Field is a name as AppendLine writes it.
func Field(name string) string { return string(appendField(nil, name)) }

func appendField(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, '_')
	}
	if strings.IndexFunc(s, isSpace) < 0 {
		return append(dst, s...)
	}
	for i := range len(s) {
		if isSpace(rune(s[i])) {
			dst = append(dst, '_')
		} else {
			dst = append(dst, s[i])
		}
	}
	return dst
}
