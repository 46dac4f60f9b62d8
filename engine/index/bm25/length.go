package bm25

import "math/bits"

// exactLengths is the number of lengths that Lucene stores exactly, from 0 on.
const exactLengths = 24

// RoundLength rounds the length of a document down to a length that Lucene can store in
// one byte: exact below 40, above with four significant bits of the excess over 24
// (SmallFloat.intToByte4 and byte4ToInt).
func RoundLength(n uint32) uint32 {
	if n < exactLengths {
		return n
	}
	excess := n - exactLengths
	shift := max(bits.Len32(excess)-4, 0)
	return exactLengths + excess>>shift<<shift
}
