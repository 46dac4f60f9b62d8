package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"heddle/engine/server/bodies"
	"heddle/engine/syntax"
)

// errEncoding is the cause of the error of a request in a compression that the server does not know.
var errEncoding = errors.New("want gzip, zstd or no compression")

// mostWindow bounds the memory of a decoder of zstd, as browsers do (RFC 9659).
const mostWindow = 8 << 20

// decode replaces the body of a request by its decompressed form, whose size the limit bounds. The
// caller calls end after the last read.
func (s *Server) decode(w http.ResponseWriter, r *http.Request) (end func(), err error) {
	var body io.ReadCloser
	switch kind := strings.ToLower(r.Header.Get("Content-Encoding")); kind {
	case "", "identity":
		return func() {}, nil
	case "gzip":
		if err := take(r.Context(), gzipBytes); err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, unread(err)
		}
		body = z
	case "zstd":
		in := bufio.NewReader(r.Body)
		window := windowOf(in)
		if err := take(r.Context(), 2*window+gzipBytes); err != nil {
			return nil, err
		}
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
		if err != nil {
			return nil, unread(err)
		}
		body = z.IOReadCloser()
	default:
		return nil, badRequest(fmt.Errorf("header Content-Encoding: %s: %w", syntax.Quote(kind), errEncoding))
	}
	r.Body = bounded(w, r, body, s.limits().Body)
	return func() { body.Close() }, nil
}

// gzipBytes is the memory of a decoder without its window of zstd.
const gzipBytes = 64 << 10

// windowOf returns the window of the first frame of zstd in bytes, which holds for further frames, too.
func windowOf(in *bufio.Reader) int64 {
	head, _ := in.Peek(zstd.HeaderMaxSize) // the decoder reports the error
	var h zstd.Header
	if err := h.Decode(head); err != nil || h.Skippable {
		return mostWindow
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	return int64(min(max(window, zstd.MinWindowSize), mostWindow))
}

// bounded bounds the size of a body, and counts it in the memory of its request.
func bounded(w http.ResponseWriter, r *http.Request, body io.ReadCloser, most int64) io.ReadCloser {
	if body == http.NoBody {
		return body
	}
	ctx := r.Context()
	return http.MaxBytesReader(w, &bodies.Reader{ReadCloser: body, Take: func(n int64) error { return take(ctx, n) }}, most)
}
