package bitslice

import "unsafe"

// pairsOf is words as a plain slice of a full tile.
func pairsOf(words []uint32) *pairs {
	return (*pairs)(unsafe.Pointer((*[2 * TileWords]uint32)(words)))
}
