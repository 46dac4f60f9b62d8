package container

import "hash/crc32"

// crcChunk is the number of bytes that one goroutine checksums at a time.
const crcChunk = 4 << 20

// crcCombine gives the CRC-32C of A followed by B from the CRCs of A and B and
// the length of B in bytes. Appending n bytes multiplies a CRC, as a polynomial
// over GF(2), by x^(8n); the rest of a CRC is linear.
func crcCombine(a, b uint32, n uint64) uint32 {
	// Bit 31 is the coefficient of x^0: power starts at 1, square at x^8.
	power, square := uint32(1<<31), uint32(1<<23)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			power = polyMul(power, square)
		}
		square = polyMul(square, square)
	}
	return polyMul(a, power) ^ b
}

// polyMul multiplies two polynomials modulo the polynomial of CRC-32C, bits reflected.
func polyMul(a, b uint32) (p uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 != 0 {
			p ^= b
		}
		b = b>>1 ^ crc32.Castagnoli&-(b&1)
	}
	return p
}

// Checksum is the CRC-32C of b, computed on all cores. An error is a *mapped.Fault.
func Checksum(b []byte) (uint32, error) {
	n := uint64(len(b))
	sums := make([]uint32, (n+crcChunk-1)/crcChunk)
	err := ParallelRanges(n, crcChunk, func(lo, hi uint64) error {
		sums[lo/crcChunk] = crc32.Checksum(b[lo:hi], castagnoli)
		return nil
	})
	if err != nil {
		return 0, err
	}
	var sum uint32
	for i, s := range sums {
		sum = crcCombine(sum, s, min(n-uint64(i)*crcChunk, crcChunk))
	}
	return sum, nil
}
