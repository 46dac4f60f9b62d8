package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// query is one line of a query file.
type query struct {
	id, text string
	line     int
}

// maxQuery bounds a line of a query file, in bytes.
const maxQuery = 1 << 20

// queryError is a query file whose content is wrong.
type queryError struct {
	path string
	line int
	err  error
}

func (e *queryError) Error() string { return fmt.Sprintf("%s:%d: %v", e.path, e.line, e.err) }
func (e *queryError) Unwrap() error { return e.err }

// queryReader reads a query file ahead, so that answering goes on meanwhile and
// neither a slow pipe nor a terminal holds up what is there already.
type queryReader struct {
	ch  chan query
	err error // valid when ch is closed
}

// readQueries reads queries from path ("-": stdin) in a goroutine, ahead of the
// caller by at most ahead. It ends with the file, or after the next line when
// ctx is done.
func readQueries(ctx context.Context, path string, stdin io.Reader, ahead int) (*queryReader, error) {
	in, closer := stdin, io.NopCloser(nil).Close
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		in, closer = f, f.Close
	}
	r := &queryReader{ch: make(chan query, ahead)}
	go func() {
		defer close(r.ch)
		err := scanQueries(path, in, func(q query) bool {
			select {
			case r.ch <- q:
				return true
			case <-ctx.Done():
				return false
			}
		})
		r.err = errors.Join(err, closer())
	}()
	return r, nil
}

// next appends to dst what has been read since, at least one query unless the
// file has ended, and no more than are read ahead.
func (r *queryReader) next(ctx context.Context, dst []query) ([]query, error) {
	select {
	case q, ok := <-r.ch:
		if !ok {
			return dst, r.err
		}
		dst = append(dst, q)
	case <-ctx.Done():
		return dst, ctx.Err()
	}
	for len(dst) < cap(r.ch) {
		select {
		case q, ok := <-r.ch:
			if !ok {
				return dst, nil // the next call says why
			}
			dst = append(dst, q)
		default:
			return dst, nil
		}
	}
	return dst, nil
}

// scanQueries gives every query of a file to yield until it returns false: one a
// line, "id TAB text" or text alone, which gets the number of the query, from 1,
// as its id. Lines without a character are skipped.
func scanQueries(path string, in io.Reader, yield func(query) bool) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxQuery)
	number, line := 0, 0
	for lines.Scan() {
		line++
		text := lines.Text()
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if text == "" {
			continue
		}
		number++
		id, rest, ok := strings.Cut(text, "\t")
		if !ok {
			id, rest = strconv.Itoa(number), text
		}
		if !yield(query{id, rest, line}) {
			return nil
		}
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return &queryError{path, line + 1, fmt.Errorf("a query of more than %d bytes", maxQuery)}
	} else if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
