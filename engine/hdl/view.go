package hdl

import (
	"encoding/binary"
	"unsafe"
)

// nativeLittle is true where words in memory are words of the file. Tests clear
// it to run the other way.
var nativeLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// word is what sections are made of.
type word interface{ uint32 | uint64 }

// view gives the little-endian words of b: b itself where the host can use it
// (byte order and alignment), else a converted copy. Bytes of an incomplete last
// word are ignored.
func view[T word](b []byte) []T {
	size := int(unsafe.Sizeof(T(0)))
	n := len(b) / size
	if n == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if nativeLittle && uintptr(p)%uintptr(size) == 0 {
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

// littleBytes is the inverse of view: words itself or a converted copy.
func littleBytes[T word](words []T) []byte {
	size := int(unsafe.Sizeof(T(0)))
	n := len(words) * size
	if nativeLittle {
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
