package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"heddle/engine/file/input"
	"heddle/engine/table/read"
)

// file is a file that is being cut into texts.
type file struct {
	*input.Reader
	path   string
	line   int    // that the rest starts with, from 1
	offset int64  // of the rest, after decompression
	rest   []byte // read and not yet given to anybody; it starts with a record
	end    bool   // the file has no more than the rest
}

// open opens a file.
func (s *source) open(path string) (*file, error) { return openFile(&s.opener, path) }

func openFile(opener *input.Opener, path string) (*file, error) {
	r, err := opener.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{Reader: r, path: path, line: 1}
	skipped, err := r.Text(path)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	f.offset = int64(skipped)
	r.EndLines(true)
	return f, nil
}

// leastRest is the room for the start of a file, in bytes. It doubles as the file goes on.
const leastRest = 16 << 10

// fill reads until the rest has n bytes or the file ends, where a last record without a
// line end gets one.
func (f *file) fill(n int) error {
	for !f.end && len(f.rest) < n {
		have := len(f.rest)
		f.rest = slices.Grow(f.rest, min(n-have, max(have, leastRest))+1)
		got, err := f.Read(f.rest[have:min(n, cap(f.rest)-1)])
		f.rest = f.rest[:have+got]
		if err == io.EOF {
			f.end = true
			if k := len(f.rest); k > 0 && f.rest[k-1] != '\n' {
				f.rest = append(f.rest, '\n')
			}
		} else if err != nil {
			return input.Explain(f.path, f.offset+int64(len(f.rest)), err)
		}
	}
	return nil
}

// whole is the part of the rest that consists of whole records.
func (f *file) whole() []byte {
	if f.end {
		return f.rest
	}
	return f.rest[:lastEnd(f.rest)]
}

// lastEnd is the end of the last whole record of text, 0 if it has none: behind the last
// line end with an even number of quotes before it. In a text with a misplaced quote
// records may seem to end elsewhere, but only behind that quote, which is an error.
func lastEnd(text []byte) int {
	quote := []byte{'"'}
	before := bytes.Count(text, quote)
	for end := len(text); ; {
		i := bytes.LastIndexByte(text[:end], '\n')
		if i < 0 {
			return 0
		}
		if before -= bytes.Count(text[i:end], quote); before%2 == 0 {
			return i + 1
		}
		end = i
	}
}

// header takes the first record off the rest. It must end in the first sample bytes.
func (f *file) header(comma byte, sample int) (names []string, err error) {
	if err := f.fill(sample); err != nil {
		return nil, err
	}
	scan := scanner{text: f.whole(), comma: comma}
	if !scan.skipEmpty() {
		reason := "no header: the file is empty"
		if !f.end {
			reason = fmt.Sprintf("the header does not end in the first %d bytes", sample)
		}
		return nil, f.errorf("%s", reason)
	}
	for {
		if reason := scan.next(); reason != "" {
			return nil, f.errorf("%s", reason)
		}
		name := string(scan.field)
		if name == "" {
			name = fmt.Sprintf("column%d", len(names)+1)
		}
		switch {
		case !utf8.ValidString(name):
			return nil, f.errorf("the name of column %d, %.60q, is not UTF-8", len(names)+1, name)
		case slices.Contains(names, name):
			return nil, f.errorf("two columns are called %q", name)
		}
		names = append(names, name)
		if scan.last {
			break
		}
	}
	f.rest = f.rest[scan.at:]
	f.line += scan.line
	f.offset += int64(scan.at)
	return names, nil
}

func (f *file) errorf(format string, args ...any) error {
	return &input.Error{Path: f.path, Line: f.line, Offset: f.offset, Reason: fmt.Sprintf(format, args...)}
}

// text gives whole records of about size bytes, io.EOF behind the last, and takes buf in
// their place. A record of more than limit bytes is an error; where it has a quote it is
// given too, since the parser may say that the quote is misplaced.
func (f *file) text(buf []byte, size, limit int) ([]byte, error) {
	for {
		if err := f.fill(size); err != nil {
			return nil, err
		}
		n := len(f.whole())
		switch {
		case n > 0 || f.end && len(f.rest) == 0:
			text := f.rest[:n]
			f.rest = append(buf[:0], f.rest[n:]...)
			if n == 0 {
				return text, io.EOF
			}
			return text, nil
		case size >= limit:
			reason := fmt.Sprintf("a record of more than %d bytes", limit)
			text := append(f.rest, '\n')
			if !slices.Contains(text, '"') {
				text = nil
			}
			return text, &input.Error{Path: f.path, Offset: f.offset, Reason: reason}
		}
		size = min(2*max(size, len(f.rest)), limit)
	}
}

// read reads all files, the first of which is f, then closes work and out.
func (s *source) read(ctx context.Context, f *file) {
	defer close(s.out)
	defer close(s.work)
	for i, path := range s.paths {
		var err error
		if i > 0 {
			f, err = s.another(path)
		}
		if err == nil {
			err = errors.Join(s.cut(ctx, f), f.Close())
		}
		if err != nil {
			s.out <- &chunk{err: err} // there is room for one more than all chunks
			return
		}
	}
}

// another opens a file behind the first.
func (s *source) another(path string) (*file, error) {
	f, err := s.open(path)
	if err != nil || len(s.opt.Names) > 0 {
		return f, err
	}
	names, err := f.header(s.opt.Comma, s.opt.sample)
	if err == nil && !slices.Equal(names, s.columns.names) {
		err = f.errorf("the columns are %s; the columns of %s are %s", read.List(names), s.paths[0], read.List(s.columns.names))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// cut sends the records of a file to the parsers.
func (s *source) cut(ctx context.Context, f *file) error {
	for first := f.line; ; first = 0 {
		var c *chunk
		select {
		case c = <-s.free:
		case <-ctx.Done():
			return ctx.Err()
		}
		at := f.offset
		text, err := f.text(c.text, s.size, s.opt.maxRecord)
		if len(text) == 0 {
			s.free <- c
		} else {
			c.path, c.first, c.offset, c.text = f.path, first, at, text
			f.offset += int64(len(text))
			s.work <- c
			s.out <- c
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
