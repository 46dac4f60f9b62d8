package codec

//go:generate go run ./internal/gen

// bitsAt reads n bits, 0 to 32, at bit position pos, all inside words.
func bitsAt(words []uint32, pos, n uint) uint32 {
	if n == 0 {
		return 0
	}
	i := pos / 32
	w := uint64(words[i])
	if i+1 < uint(len(words)) {
		w |= uint64(words[i+1]) << 32
	}
	return uint32(w >> (pos % 32) & (1<<(n&63) - 1))
}

// unpack reads len(dst) values of b bits each, 0 to 32, from src, which has exactly
// the words of these values.
func unpack(dst, src []uint32, b uint) {
	n := len(dst) / 32
	unpackBlocks(dst, src, b)
	if rest := dst[n*32:]; len(rest) > 0 {
		var in, out [32]uint32 // a whole block, filled with zeros
		copy(in[:], src[n*int(b):])
		unpackBlocks(out[:], in[:], b)
		copy(rest, out[:])
	}
}

// unpackGaps reads len(dst) gaps of b bits each, 0 to 32, from src, which has exactly
// the words of these gaps and zeros after the last one. It writes the docIDs that
// follow docID by these gaps, modulo 2^32, and returns the last docID, not modulo
// 2^32. With b = 32, src may be dst.
func unpackGaps(dst, src []uint32, b uint, docID uint64) uint64 {
	n := len(dst) / 32
	docID = sumBlocks(dst, src, b, docID)
	if rest := dst[n*32:]; len(rest) > 0 {
		var in, out [32]uint32 // a whole block, filled with zeros, which add 1 each
		copy(in[:], src[n*int(b):])
		docID = sumBlocks(out[:], in[:], b, docID) - uint64(32-len(rest))
		copy(rest, out[:])
	}
	return docID
}
