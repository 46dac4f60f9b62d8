package fetch

import (
	"errors"
	"hash"
	"io"
)

// block is the number of bytes of one write, and buffers the number of blocks in memory.
const (
	block   = 256 << 10
	buffers = 4
)

// copyHash copies at most n bytes and adds them to the checksum, which a second goroutine computes
// while the next block arrives. It returns the number of bytes that it wrote. The checksum covers
// them when it returns.
func copyHash(to io.Writer, from io.Reader, n int64, sum hash.Hash) (written int64, err error) {
	free, full, done := make(chan []byte, buffers), make(chan []byte, buffers), make(chan struct{})
	for range buffers {
		free <- make([]byte, block)
	}
	go func() {
		defer close(done)
		for b := range full {
			sum.Write(b)
			free <- b[:block]
		}
	}()
	defer func() {
		close(full)
		<-done
	}()
	for written < n {
		b := <-free
		got, readErr := io.ReadFull(from, b[:min(block, n-written)])
		wrote, writeErr := to.Write(b[:got])
		full <- b[:wrote]
		written += int64(wrote)
		switch {
		case writeErr != nil:
			return written, writeErr
		case errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF):
			return written, nil
		case readErr != nil:
			return written, readErr
		}
	}
	return written, nil
}
