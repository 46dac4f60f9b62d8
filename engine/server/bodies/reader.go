package bodies

import "io"

// Take adds bytes to the memory of a request, or returns the error of a request that does not fit.
type Take func(bytes int64) error

// Growth is the memory of a body per byte: a buffer that doubles has its old and its new content for a moment.
const Growth = 3

// Reader counts the bytes of a body as they are read.
type Reader struct {
	io.ReadCloser
	Take Take
}

func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if n > 0 {
		if refused := r.Take(Growth * int64(n)); refused != nil {
			return 0, refused
		}
	}
	return n, err
}
