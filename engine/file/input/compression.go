package input

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the greatest window of zstd data in bytes, as in the program zstd.
const maxWindow = 128 << 20

// compression is a format of compressed data.
type compression struct {
	name, suffix string
	starts       func(head []byte) bool // the first magicSize bytes, or all
	open         func(io.Reader) (io.ReadCloser, error)
}

// magicSize is the number of bytes by which compressed data is recognised.
const magicSize = 10

var compressions = []compression{
	{"gzip", ".gz", func(head []byte) bool { return bytes.HasPrefix(head, []byte("\x1f\x8b")) },
		func(r io.Reader) (io.ReadCloser, error) {
			d, err := newGzip(r)
			return io.NopCloser(d), err // its Close would repeat an error of Read
		}},
	{"zstd", ".zst", startsZstd, func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
	{"bzip2", ".bz2", startsBzip2, func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }},
}

// gzipMembers reads the members of gzip data one after another. As the program gzip does, it ignores
// zeros behind the last member, with which tapes and disks fill blocks.
type gzipMembers struct {
	r *bufio.Reader
	d *gzip.Reader
}

func newGzip(r io.Reader) (*gzipMembers, error) {
	g := &gzipMembers{r: bufio.NewReader(r)} // r itself, if it is buffered
	var err error
	if g.d, err = gzip.NewReader(g.r); err == nil {
		g.d.Multistream(false)
	}
	return g, err
}

func (g *gzipMembers) Read(p []byte) (n int, err error) {
	n, err = g.d.Read(p)
	for ; err == io.EOF && n == 0 && len(p) > 0; n, err = g.d.Read(p) {
		if err := g.next(); err != nil {
			return 0, err
		}
	}
	if n > 0 && err == io.EOF {
		err = nil // the next call goes on
	}
	return n, err
}

// errTrailing is the error of bytes that are no member.
var errTrailing = errors.New("other bytes follow its end")

// next begins the next member; io.EOF if zeros alone are left.
func (g *gzipMembers) next() error {
	for {
		head, err := g.r.Peek(1)
		if err != nil {
			return err
		}
		if head[0] == 0x1f { // the first byte of a member
			break
		} else if head[0] != 0 {
			return errTrailing
		}
		_, _ = g.r.Discard(1) // a buffered byte
	}
	if err := g.d.Reset(g.r); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	g.d.Multistream(false)
	return nil
}

// startsZstd finds a frame of data, or a skippable frame.
func startsZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) || len(head) >= 4 && head[0]>>4 == 5 && bytes.HasPrefix(head[1:], []byte("\x2a\x4d\x18"))
}

// startsBzip2 finds the start of a block, or the end of an empty stream.
func startsBzip2(head []byte) bool {
	return len(head) == magicSize && bytes.HasPrefix(head, []byte("BZh")) &&
		(string(head[4:]) == "1AY&SY" || string(head[4:]) == "\x17rE8P\x90")
}

// TrimSuffix cuts the suffix of compressed files off a file name.
func TrimSuffix(path string) string {
	for _, c := range compressions {
		if name, found := strings.CutSuffix(path, c.suffix); found {
			return name
		}
	}
	return path
}

// Find returns the name of the file with this name, compressed or not, and whether it
// exists.
func Find(path string) (string, bool) {
	if _, err := os.Stat(path); err == nil {
		return path, true
	}
	for _, c := range compressions {
		if _, err := os.Stat(path + c.suffix); err == nil {
			return path + c.suffix, true
		}
	}
	return path, false
}

// decompressor marks errors in the data of a compressed input.
type decompressor struct {
	io.ReadCloser
	name string
	from *counter
}

// decompress returns a reader of the content of compressed data.
func (c *compression) decompress(r io.Reader, from *counter) (*decompressor, error) {
	d := &decompressor{name: c.name, from: from}
	var err error
	d.ReadCloser, err = c.open(r)
	return d, d.mark(err)
}

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	return n, d.mark(err)
}

// mark returns errors of the system unchanged.
func (d *decompressor) mark(err error) error {
	if err == nil || err == io.EOF || d.from.err != nil {
		return err
	}
	return &damage{d.name, err}
}

// damage is an error in compressed data.
type damage struct {
	name string // name of the compression
	err  error
}

func (d *damage) Error() string {
	if errors.Is(d.err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("truncated %s data", d.name)
	}
	return fmt.Sprintf("damaged %s data: %s", d.name, d.cause())
}

// cause is the error of a decompressor in words that do not depend on its package.
func (d *damage) cause() string {
	switch {
	case errors.Is(d.err, errTrailing):
		return d.err.Error()
	case errors.Is(d.err, gzip.ErrChecksum), errors.Is(d.err, zstd.ErrCRCMismatch), errors.Is(d.err, bzip2.StructuralError("block checksum mismatch")), errors.Is(d.err, bzip2.StructuralError("file checksum mismatch")):
		return "its content does not have the checksum that it states"
	case errors.Is(d.err, gzip.ErrHeader), errors.Is(d.err, zstd.ErrMagicMismatch):
		return "a part does not begin with a header"
	case errors.Is(d.err, zstd.ErrWindowSizeExceeded):
		return fmt.Sprintf("it needs a window above %d bytes", maxWindow)
	}
	return "a block is invalid"
}
