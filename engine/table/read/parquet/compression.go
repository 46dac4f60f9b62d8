package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// lz4Hadoop is the codec LZ4 of older writers: frames of Hadoop, or else one block.
const lz4Hadoop format.CompressionCodec = 5

// decompress decompresses a page to size bytes. A page without values may have no bytes.
func decompress(c format.CompressionCodec, data []byte, size int) (out []byte, err error) {
	switch {
	case c == format.Uncompressed:
		return data, nil
	case len(data) == 0 && size == 0:
		return nil, nil
	case c == format.Lz4Raw:
		out, err = lz4Block(data, size)
	case c == lz4Hadoop:
		if out, err = lz4Frames(data, size); err != nil {
			out, err = lz4Block(data, size)
		}
	case c == format.Zstd:
		out, err = unzstd(data, size)
	case c == format.Gzip:
		var r io.Reader
		if r, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			out, err = io.ReadAll(io.LimitReader(r, int64(size)+1))
		}
	case c == format.Brotli:
		out, err = io.ReadAll(io.LimitReader(brotli.NewReader(bytes.NewReader(data)), int64(size)+1))
	case c == format.Snappy:
		if said, _ := binary.Uvarint(data); said == uint64(size) && size <= 32*len(data) { // a copy has 64 bytes in 3
			out, err = snappy.Decode(nil, data)
		}
	}
	switch {
	case c < 0 || c == format.LZO || c > format.Lz4Raw:
		err = fmt.Errorf("compression %s, which is not supported", named(c))
	case err != nil || len(out) != size:
		err = fmt.Errorf("%d damaged bytes of compression %s instead of %d bytes", len(data), named(c), size)
	}
	return out, err
}

// zstdReader decompresses pages to the capacity of their buffer, at most.
var zstdReader = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
})

// unzstd decompresses a page of Zstandard.
func unzstd(data []byte, size int) ([]byte, error) {
	if size < 0 || size>>16 > len(data) { // a block of 4 bytes has at most 128 KiB
		return nil, errors.New("wrong size")
	}
	r, err := zstdReader()
	if err != nil {
		return nil, err
	}
	return r.DecodeAll(data, make([]byte, 0, size))
}

// lz4Block decompresses a block of LZ4.
func lz4Block(data []byte, size int) ([]byte, error) {
	if size < 0 || size > 255*len(data)+16 { // more than LZ4 can compress
		return nil, errors.New("wrong size")
	}
	out := make([]byte, size)
	n, err := lz4.UncompressBlock(data, out)
	return out[:max(n, 0)], err
}

// lz4Frames decompresses frames of Hadoop: two numbers of 32 bits, highest byte first, which are the size of the
// content and the size of the block that follows.
func lz4Frames(data []byte, size int) (out []byte, err error) {
	for len(data) > 0 {
		if len(data) < 8 {
			return nil, errors.New("a frame without its sizes")
		}
		content, block := uint64(binary.BigEndian.Uint32(data)), uint64(binary.BigEndian.Uint32(data[4:]))
		if data = data[8:]; block > uint64(len(data)) || content > uint64(max(size-len(out), 0)) {
			return nil, errors.New("wrong sizes of a frame")
		}
		part, err := lz4Block(data[:block], int(content))
		if err != nil {
			return nil, err
		}
		out, data = append(out, part...), data[block:]
	}
	return out, nil
}
