package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"heddle/engine/hdl"
)

// MaxDocument is the greatest size of a document in bytes: of a line, or of what
// lies between <DOC> and </DOC>.
const MaxDocument = 64 << 20

// sourceBuffer is the read buffer of a source, in bytes. A term or a name, of at
// most 64 KiB, can always be seen in it as a whole.
const sourceBuffer = 256 << 10

const _ = uint(sourceBuffer - 2*max(hdl.MaxTermLen, hdl.MaxNameLen)) // compiles only if not negative

// source reads one input: its bytes after decompression, with their position. It
// belongs to one goroutine.
type source struct {
	path        string
	at          position // of the next byte; lines count only through line
	r           *bufio.Reader
	closer      io.Closer
	maxDocument int
	seen        bool // a document, by cutTREC
}

// opener opens inputs. Its count of bytes is read while others read the inputs.
type opener struct {
	ctx         context.Context
	stdin       io.Reader
	maxDocument int
	read        atomic.Int64 // bytes of inputs, before decompression
}

// open opens a file, or standard input for "-".
func (o *opener) open(path string) (*source, error) {
	if path == "-" {
		return o.source(path, newPrompt(o.ctx, o.stdin), io.NopCloser(nil))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var r io.Reader = f
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		r = newPrompt(o.ctx, f)
	}
	return o.source(path, r, f)
}

// source makes r an input. It closes c when it fails.
func (o *opener) source(path string, r io.Reader, c io.Closer) (*source, error) {
	s := &source{path: path, closer: c, maxDocument: o.maxDocument}
	s.r = bufio.NewReaderSize(&counter{o, r}, sourceBuffer)
	if head, _ := s.r.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(s.r)
		if err != nil {
			return nil, errors.Join(s.fail(err), s.close())
		}
		s.r = bufio.NewReaderSize(unzipped, sourceBuffer)
	}
	return s, nil
}

func (s *source) close() error { return s.closer.Close() }

// errorf reports the position of the next byte.
func (s *source) errorf(format string, args ...any) error {
	return s.at.errorf(s.path, format, args...)
}

// fail explains an error of the reader other than io.EOF.
func (s *source) fail(err error) error { return readError(s.path, s.at.offset, err) }

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

// skipMark drops a byte order mark, if that is what comes next.
func (s *source) skipMark() {
	if head, _ := s.r.Peek(len(utf8Mark)); bytes.Equal(head, utf8Mark) {
		s.skip(len(utf8Mark))
	}
}

// delimited appends what comes up to and with the next delim, or up to the end,
// to dst; io.EOF if nothing comes. limit bounds len(dst).
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
// starts; io.EOF behind the last. Lines end in LF or CR LF.
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

// size is the number of bytes of a regular file, 0 for what else there is.
func size(path string) int64 {
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
		return st.Size()
	}
	return 0
}

// exists says whether there is a file of this name, gzipped or not, and gives
// its name.
func exists(path string) (string, bool) {
	for _, p := range []string{path, path + ".gz"} {
		if _, err := os.Stat(p); err == nil {
			return p, true
		}
	}
	return path, false
}

func plural(n uint64, what string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
