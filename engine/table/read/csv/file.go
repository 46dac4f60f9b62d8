package csv

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"heddle/engine/file/input"
	"heddle/engine/table/read"
)

// file is a file that is being cut into texts.
type file struct {
	*input.Reader
	*dialect
	path   string
	line   int    // number of the first line of the rest, from 1
	offset int64  // offset of the rest, in bytes after decompression
	rest   []byte // read and not yet given to anybody; it starts with a record
	end    bool   // the file has no more than the rest
	sep    byte   // delimiter that the first line names; 0: none
}

// open opens a file, behind the lines that are left out.
func (s *source) open(path string) (*file, error) { return s.openFile(&s.opener, path) }

func (s *source) openFile(opener *input.Opener, path string) (*file, error) {
	r, err := opener.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{Reader: r, path: path, line: 1}
	skipped, err := r.TextIn(path, s.opt.Encoding)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	f.offset = int64(skipped)
	r.EndLines(s.opt.Quote == '"')
	defer f.separator()
	for f.line <= s.opt.SkipLines {
		part, err := r.ReadSlice('\n')
		switch f.offset += int64(len(part)); {
		case err == nil:
			f.line++
		case errors.Is(err, io.EOF):
			return f, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, errors.Join(input.Explain(path, f.offset, err), r.Close())
		}
	}
	return f, nil
}

// separator takes a first line such as sep=; which Excel writes and reads: it names the delimiter.
func (f *file) separator() {
	head, _ := f.Peek(len("\"sep=;\"\r\n"))
	line, _, ended := bytes.Cut(head, []byte{'\n'})
	text := bytes.TrimSuffix(line, []byte{'\r'})
	if n := len(text); n == len("\"sep=;\"") && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1]
	}
	if !ended || len(text) != len("sep=;") || !bytes.EqualFold(text[:4], []byte("sep=")) || text[4] == '"' || text[4] >= 0x80 {
		return
	}
	n, _ := f.Discard(len(line) + 1) // buffered bytes
	f.offset += int64(n)
	f.line++
	f.sep = text[4]
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
	return f.rest[:f.dialect.end(f.rest)]
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
			if !slices.Contains(text, f.quote) {
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
	if err != nil {
		return f, err
	}
	f.dialect = s.columns.dialect
	if f.sep != 0 && f.sep != f.comma && s.opt.Delimiter == 0 {
		err := f.errorf("the first line names the delimiter %q, the delimiter of %s is %q (--delimiter sets it)", f.sep, s.paths[0], f.comma)
		return nil, errors.Join(err, f.Close())
	}
	if !s.header {
		return f, nil
	}
	if err = f.fill(s.opt.sample); err == nil {
		var names []string
		names, _, _, err = f.header(s.opt.sample)
		if err == nil && !slices.Equal(names, s.fileNames) {
			err = f.errorf("the columns are %s; the columns of %s are %s", read.List(names), s.paths[0], read.List(s.fileNames))
		}
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
