package container

import "unsafe"

// Word is the element type of sections.
type Word interface{ uint32 | uint64 }

// View gives the little-endian words of b: b itself if it is aligned, else a copy. Bytes of an
// incomplete last word are ignored.
func View[T Word](b []byte) []T {
	size := int(unsafe.Sizeof(T(0)))
	n := len(b) / size
	if n == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%uintptr(size) == 0 {
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

// LittleBytes gives the bytes of words, without a copy.
func LittleBytes[T Word](words []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*int(unsafe.Sizeof(T(0))))
}
