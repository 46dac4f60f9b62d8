package input

import (
	"context"
	"io"
	"os"
)

// counter counts bytes and stops when the context is done.
type counter struct {
	o   *Opener
	r   io.Reader
	err error // error of the last read, except io.EOF
}

func (c *counter) Read(p []byte) (int, error) {
	if c.err = c.o.Ctx.Err(); c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.o.read.Add(int64(n))
	if err != io.EOF {
		c.err = err
	}
	return n, err
}

// File opens the file at path as it is, compressed or not. Opening and reading a pipe or a
// device, which may block for ever, end with the context.
func File(ctx context.Context, path string) (io.ReadCloser, error) {
	if st, err := os.Stat(path); err != nil {
		return nil, err
	} else if st.Mode().IsRegular() {
		return os.Open(path)
	}
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened)
	go func() {
		f, err := os.Open(path)
		select {
		case done <- opened{f, err}:
		case <-ctx.Done():
			f.Close() // f may be nil
		}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		return struct {
			io.Reader
			io.Closer
		}{newPrompt(ctx, o.file), o.file}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// prompt reads an input that may block for ever (a terminal, a pipe) in a goroutine, so
// that its own Read returns when the context ends. The goroutine ends after the next
// return of the blocked read.
type prompt struct {
	ctx  context.Context
	next chan piece
	done piece // rest of the last piece
}

type piece struct {
	data []byte
	err  error
}

func newPrompt(ctx context.Context, r io.Reader) *prompt {
	p := &prompt{ctx: ctx, next: make(chan piece)}
	go func() {
		// One buffer is filled while Read empties the other. Their size follows the input.
		var data, other []byte
		for size := 4 << 10; ; data, other = other, data {
			if len(data) < size {
				data = make([]byte, size)
			}
			n, err := r.Read(data)
			select {
			case p.next <- piece{data[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
			if n == size {
				size = min(2*size, 64<<10)
			}
		}
	}()
	return p
}

func (p *prompt) Read(b []byte) (int, error) {
	for len(p.done.data) == 0 {
		if p.done.err != nil {
			return 0, p.done.err
		}
		select {
		case p.done = <-p.next:
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(b, p.done.data)
	p.done.data = p.done.data[n:]
	return n, nil
}
