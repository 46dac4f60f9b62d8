package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, unread(err)
		}
		body = z
	case "zstd":
		z, err := zstd.NewReader(r.Body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return nil, unread(err)
		}
		body = z.IOReadCloser()
	default:
		return nil, badRequest(fmt.Errorf("header Content-Encoding: %q: %w", kind, errEncoding))
	}
	r.Body = http.MaxBytesReader(w, body, s.limits().Body)
	return func() { body.Close() }, nil
}
