package bodies

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"heddle/engine/server/problem"
	"heddle/engine/syntax"
)

// mostWindow bounds the memory of a decoder of zstd, as browsers do (RFC 9659).
const mostWindow = 8 << 20

// Decode replaces the body of a request by its decompressed form, whose size limit bounds; a limit of 0 is none, and
// counts no memory. The caller calls end after the last read.
func Decode(w http.ResponseWriter, r *http.Request, limit int64) (end func(), err error) {
	var body io.ReadCloser
	switch kind := strings.ToLower(r.Header.Get("Content-Encoding")); kind {
	case "", "identity":
		return func() {}, nil
	case "gzip":
		if err := problem.Take(r.Context(), gzipBytes); err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, problem.Unread(err)
		}
		body = z
	case "zstd":
		in := bufio.NewReader(r.Body)
		window := windowOf(in)
		if err := problem.Take(r.Context(), 2*window+gzipBytes); err != nil {
			return nil, err
		}
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
		if err != nil {
			return nil, problem.Unread(err)
		}
		body = z.IOReadCloser()
	default:
		return nil, problem.BadRequest(fmt.Errorf("header Content-Encoding: %s: %w", syntax.Quote(kind), problem.ErrEncoding))
	}
	if r.Body = body; limit > 0 {
		r.Body = Bounded(w, r, body, limit)
	}
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

// Bounded bounds the size of a body, and counts it in the memory of its request.
func Bounded(w http.ResponseWriter, r *http.Request, body io.ReadCloser, most int64) io.ReadCloser {
	if body == http.NoBody {
		return body
	}
	ctx := r.Context()
	return http.MaxBytesReader(w, &Reader{ReadCloser: body, Take: func(n int64) error { return problem.Take(ctx, n) }}, most)
}
