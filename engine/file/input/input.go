// Package input opens files and standard input, compressed by gzip, zstd or bzip2 or not
// compressed, for reading once from start to end. A read that may block for ever returns
// when a context ends.
package input

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"sync"
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
	UTF16 bool // the input is UTF-16, which Text converts
}

// Open opens a file, or standard input for "-". The first bytes of an input show whether
// it is compressed.
func (o *Opener) Open(path string) (*Reader, error) {
	if path == "-" {
		return o.Wrap(path, newPrompt(o.Ctx, o.Stdin), io.NopCloser(nil))
	}
	f, err := File(o.Ctx, path)
	if err != nil {
		return nil, err
	}
	return o.Wrap(path, f, f)
}

// Wrap is Open for a reader; errors name path. It closes c when it fails.
func (o *Opener) Wrap(path string, r io.Reader, c io.Closer) (*Reader, error) {
	from := &counter{o: o, r: r}
	b := buffered(from)
	head, _ := b.Peek(magicSize)
	for _, f := range compressions {
		if !f.starts(head) {
			continue
		}
		d, err := f.decompress(b, from)
		if err != nil {
			return nil, errors.Join(Explain(path, 0, err), c.Close())
		}
		return &Reader{Reader: buffered(d), Closer: closers{d, c}}, nil
	}
	return &Reader{Reader: b, Closer: c}, nil
}

// buffers keeps the buffers of closed Readers for further inputs, of which many are small.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, Buffer) }}

func buffered(r io.Reader) *bufio.Reader {
	b := buffers.Get().(*bufio.Reader)
	b.Reset(r)
	return b
}

// Close closes the input. Bytes that Peek or ReadSlice gave are not valid afterwards.
func (r *Reader) Close() error {
	if b := r.Reader; b != nil {
		r.Reader = nil
		b.Reset(nil)
		buffers.Put(b)
	}
	return r.Closer.Close()
}

// closers closes all.
type closers []io.Closer

func (cs closers) Close() error {
	var errs []error
	for _, c := range cs {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Size is the number of bytes of a regular file, else 0.
func Size(path string) int64 {
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
		return st.Size()
	}
	return 0
}
