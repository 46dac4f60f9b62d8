package container

import (
	"encoding/binary"
	"unsafe"
)

// NativeLittle is true where words in memory are words of the file. Tests clear it to run
// the conversions.
var NativeLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Word is the element type of sections.
type Word interface{ uint32 | uint64 }

// View gives the little-endian words of b: b itself where the host can use it
// (byte order and alignment), else a converted copy. Bytes of an incomplete last
// word are ignored.
func View[T Word](b []byte) []T {
	size := int(unsafe.Sizeof(T(0)))
	n := len(b) / size
	if n == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if NativeLittle && uintptr(p)%uintptr(size) == 0 {
		return unsafe.Slice((*T)(p), n)
	}
	words := make([]T, n)
	for i := range words {
		for j := range size {
			words[i] |= T(b[i*size+j]) << (8 * j)
		}
	}
	return words
}

// LittleBytes is the inverse of View: words itself or a converted copy.
func LittleBytes[T Word](words []T) []byte {
	size := int(unsafe.Sizeof(T(0)))
	n := len(words) * size
	if NativeLittle {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
	}
	b := make([]byte, 0, n)
	for _, w := range words {
		for j := range size {
			b = append(b, byte(w>>(8*j)))
		}
	}
	return b
}
