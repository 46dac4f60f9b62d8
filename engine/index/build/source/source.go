// Package source reads the inputs of a build, with the position of each byte for errors.
package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"heddle/engine/file/input"
	"heddle/engine/index/hdl"
)

// MaxDocument is the greatest size of a document in bytes: of a line, or of the text
// between <DOC> and </DOC>.
const MaxDocument = 64 << 20

// Buffer is the read buffer in bytes. A term or a name, of at most 64 KiB, can always be
// seen in it as a whole.
const Buffer = input.Buffer

const _ = uint(Buffer - 2*max(hdl.MaxTermLen, hdl.MaxNameLen)) // compiles only if not negative

// Reader reads one input: its bytes after decompression, with their position. It
// belongs to one goroutine.
type Reader struct {
	Path        string
	At          Position // position of the next byte; only Line counts lines
	MaxDocument int      // greatest size of a document in bytes
	*input.Reader
}

// Opener opens inputs.
type Opener struct {
	input.Opener
	MaxDocument int // greatest size of a document, in bytes
}

// Open opens a file, or standard input for "-".
func (o *Opener) Open(path string) (*Reader, error) {
	r, err := o.Opener.Open(path)
	if err != nil {
		return nil, err
	}
	return &Reader{Path: path, MaxDocument: o.MaxDocument, Reader: r}, nil
}

// Errorf reports the position of the next byte.
func (s *Reader) Errorf(format string, args ...any) error {
	return s.At.Errorf(s.Path, format, args...)
}

// Fail explains an error of the input.Reader; io.EOF never comes here.
func (s *Reader) Fail(err error) error { return input.Explain(s.Path, s.At.Offset, err) }

// Peek returns the next n bytes, at most Buffer, without taking them;
// io.EOF if the input ends before the first and io.ErrUnexpectedEOF if it ends
// among them.
func (s *Reader) Peek(n int) ([]byte, error) {
	b, err := s.Reader.Peek(n)
	switch {
	case len(b) == n:
		return b, nil
	case err != io.EOF:
		return b, s.Fail(err)
	case len(b) > 0:
		return b, io.ErrUnexpectedEOF
	}
	return b, io.EOF
}

// Skip takes n bytes that Peek has shown.
func (s *Reader) Skip(n int) {
	n, _ = s.Discard(n) // cannot fail on buffered bytes
	s.At.Offset += int64(n)
}

// Text prepares an input of text.
func (s *Reader) Text() error {
	skipped, err := s.Reader.Text(s.Path)
	s.At.Offset += int64(skipped)
	s.EndLines(false)
	return err
}

// Delimited appends the bytes through the next delim, or to the end, to dst; io.EOF
// without a byte, and ErrTooLong if dst exceeds limit bytes.
func (s *Reader) Delimited(dst []byte, delim byte, limit int) ([]byte, error) {
	for {
		part, err := s.ReadSlice(delim)
		s.At.Offset += int64(len(part))
		dst = append(dst, part...)
		switch {
		case len(dst) > limit:
			return dst, ErrTooLong
		case err == nil:
			return dst, nil
		case err == io.EOF && len(part) == 0:
			return dst, io.EOF
		case err == io.EOF:
			return dst, nil
		case err != bufio.ErrBufferFull:
			return dst, s.Fail(err)
		}
	}
}

// ErrTooLong is the error of Delimited.
var ErrTooLong = errors.New("too long")

// Line appends the next line, without its end, to dst and returns where it
// starts; io.EOF behind the last. Lines end in LF or CR LF, or all in CR (EndLines).
func (s *Reader) Line(dst []byte) ([]byte, Position, error) {
	s.At.Line++
	at, n := s.At, len(dst)
	dst, err := s.Delimited(dst, '\n', n+s.MaxDocument)
	if err == ErrTooLong {
		return dst, at, at.Errorf(s.Path, "a line of more than %d bytes", s.MaxDocument)
	}
	if err == io.EOF && len(dst) > n {
		err = nil // the last line has no end
	}
	dst = append(dst[:n], bytes.TrimSuffix(dst[n:], []byte("\n"))...)
	dst = append(dst[:n], bytes.TrimSuffix(dst[n:], []byte("\r"))...)
	return dst, at, err
}

// Position is where a record starts in its input.
type Position struct {
	Line   int // 0 in formats without lines
	Offset int64
}

// Errorf is Error with a formatted reason.
func (p Position) Errorf(path, format string, args ...any) error {
	return p.Error(path, fmt.Sprintf(format, args...))
}

// Error returns the error of an input that does not follow its format at p.
func (p Position) Error(path, reason string) *input.Error {
	return &input.Error{Path: path, Line: p.Line, Offset: p.Offset, Reason: reason}
}
