// Package input opens files and standard input, gzipped or not, for reading once from
// start to end. A read that may block for ever returns when a context ends.
package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
)

// Buffer is the read buffer of a Reader, in bytes: Peek sees so many.
const Buffer = 256 << 10

// Opener opens inputs one after another. Count may be called while goroutines read them.
type Opener struct {
	Ctx   context.Context
	Stdin io.Reader // the input "-"

	read atomic.Int64
}

// Count is the number of bytes of inputs that were read, before decompression.
func (o *Opener) Count() int64 { return o.read.Load() }

// Reader reads one input after decompression. It belongs to one goroutine.
type Reader struct {
	*bufio.Reader
	io.Closer
}

// Open opens a file, or standard input for "-". That an input is gzipped is seen by its
// first bytes.
func (o *Opener) Open(path string) (*Reader, error) {
	if path == "-" {
		return o.Wrap(path, newPrompt(o.Ctx, o.Stdin), io.NopCloser(nil))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var r io.Reader = f
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		r = newPrompt(o.Ctx, f)
	}
	return o.Wrap(path, r, f)
}

// Wrap is Open for a reader; errors name path. It closes c when it fails.
func (o *Opener) Wrap(path string, r io.Reader, c io.Closer) (*Reader, error) {
	b := bufio.NewReaderSize(&counter{o, r}, Buffer)
	if head, _ := b.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(b)
		if err != nil {
			return nil, errors.Join(Explain(path, 0, err), c.Close())
		}
		b = bufio.NewReaderSize(unzipped, Buffer)
	}
	return &Reader{b, c}, nil
}

// Mark is the byte order mark of UTF-8.
const Mark = "\ufeff"

// SkipMark drops a byte order mark if it comes next, and returns its number of bytes.
func (r *Reader) SkipMark() int {
	if head, _ := r.Peek(len(Mark)); string(head) != Mark {
		return 0
	}
	n, _ := r.Discard(len(Mark)) // cannot fail on buffered bytes
	return n
}

// Size is the number of bytes of a regular file, else 0.
func Size(path string) int64 {
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
		return st.Size()
	}
	return 0
}
