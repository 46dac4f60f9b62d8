package build

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

// sourceBuffer is the read buffer of a source, in bytes. A term or a name, of at
// most 64 KiB, can always be seen in it as a whole.
const sourceBuffer = input.Buffer

const _ = uint(sourceBuffer - 2*max(hdl.MaxTermLen, hdl.MaxNameLen)) // compiles only if not negative

// source reads one input: its bytes after decompression, with their position. It
// belongs to one goroutine.
type source struct {
	path        string
	at          position // position of the next byte; only line counts lines
	r           *input.Reader
	maxDocument int
	seen        bool // a document, by cutTREC
	binary      int  // records that are no text, by cutWARC
}

// opener opens inputs.
type opener struct {
	input.Opener
	maxDocument int
}

// open opens a file, or standard input for "-".
func (o *opener) open(path string) (*source, error) {
	r, err := o.Open(path)
	if err != nil {
		return nil, err
	}
	return &source{path: path, r: r, maxDocument: o.maxDocument}, nil
}

func (s *source) close() error { return s.r.Close() }

// errorf reports the position of the next byte.
func (s *source) errorf(format string, args ...any) error {
	return s.at.errorf(s.path, format, args...)
}

// fail explains an error of the reader; io.EOF never comes here.
func (s *source) fail(err error) error { return input.Explain(s.path, s.at.offset, err) }

// peek returns the next n bytes, at most sourceBuffer, without taking them;
// io.EOF if the input ends before the first and io.ErrUnexpectedEOF if it ends
// among them.
func (s *source) peek(n int) ([]byte, error) {
	b, err := s.r.Peek(n)
	switch {
	case len(b) == n:
		return b, nil
	case err != io.EOF:
		return b, s.fail(err)
	case len(b) > 0:
		return b, io.ErrUnexpectedEOF
	}
	return b, io.EOF
}

// skip takes n bytes that peek has shown.
func (s *source) skip(n int) {
	n, _ = s.r.Discard(n) // cannot fail on buffered bytes
	s.at.offset += int64(n)
}

// text prepares an input of text.
func (s *source) text() error {
	skipped, err := s.r.Text(s.path)
	s.at.offset += int64(skipped)
	s.r.EndLines(false)
	return err
}

// delimited appends the bytes through the next delim, or to the end, to dst; io.EOF
// without a byte. limit bounds len(dst).
func (s *source) delimited(dst []byte, delim byte, limit int) ([]byte, error) {
	for {
		part, err := s.r.ReadSlice(delim)
		s.at.offset += int64(len(part))
		dst = append(dst, part...)
		switch {
		case len(dst) > limit:
			return dst, errTooLong
		case err == nil:
			return dst, nil
		case err == io.EOF && len(part) == 0:
			return dst, io.EOF
		case err == io.EOF:
			return dst, nil
		case err != bufio.ErrBufferFull:
			return dst, s.fail(err)
		}
	}
}

var errTooLong = errors.New("too long")

// line appends the next line, without its end, to dst and returns where it
// starts; io.EOF behind the last. Lines end in LF or CR LF, or all in CR (Reader.EndLines).
func (s *source) line(dst []byte) ([]byte, position, error) {
	s.at.line++
	at, n := s.at, len(dst)
	dst, err := s.delimited(dst, '\n', n+s.maxDocument)
	if err == errTooLong {
		return dst, at, at.errorf(s.path, "a line of more than %d bytes", s.maxDocument)
	}
	if err == io.EOF && len(dst) > n {
		err = nil // the last line has no end
	}
	dst = append(dst[:n], bytes.TrimSuffix(dst[n:], []byte("\n"))...)
	dst = append(dst[:n], bytes.TrimSuffix(dst[n:], []byte("\r"))...)
	return dst, at, err
}

func plural(n uint64, what string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
