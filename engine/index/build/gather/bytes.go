package gather

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"
)

// AppendBytes appends the varint length of b, and b.
func AppendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// appendSized is AppendBytes for bytes that f appends: they are written once, in most cases behind a
// length of one byte.
func appendSized(dst []byte, f func(dst []byte) []byte) []byte {
	at := len(dst)
	dst = f(append(dst, 0))
	n := len(dst) - at - 1
	if n >= 0x80 {
		var length [binary.MaxVarintLen64]byte
		dst = slices.Replace(dst, at, at+1, binary.AppendUvarint(length[:0], uint64(n))...)
	} else {
		dst[at] = byte(n)
	}
	return dst
}

// ReadBytes reads the output of AppendBytes into the memory of dst.
func ReadBytes(r *bufio.Reader, dst []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return dst, Damaged(err)
	}
	dst = slices.Grow(dst[:0], int(n))[:n]
	if _, err := io.ReadFull(r, dst); err != nil {
		return dst, Damaged(err)
	}
	return dst, nil
}
