package bodies

import (
	"compress/gzip"
	"io"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectgzip"
)

// Gzip returns the compressor of Connect and gRPC. It counts the bytes of a message while the message is
// unpacked: open begins the account of a message. The best compression of an answer would take as much time as the answer.
func Gzip(open func() (take Take, end func())) connect.Compressor {
	return &compressor{connectgzip.New(connectgzip.WithLevel(gzip.BestSpeed)), open}
}

type compressor struct {
	connect.Compressor
	open func() (Take, func())
}

// Decompress implements connect.Compressor.
func (c *compressor) Decompress(src io.Reader) (io.ReadCloser, error) {
	r, err := c.Compressor.Decompress(src)
	if err != nil {
		return nil, err
	}
	take, end := c.open()
	return &unpacked{Reader{r, take}, end}, nil
}

type unpacked struct {
	Reader
	end func()
}

// Close implements io.Closer.
func (u *unpacked) Close() error {
	u.end()
	return u.Reader.Close()
}
