package lookup

// scattered reports whether docs hit less than a third of the cache lines of a bitset
// between the first and the last docID.
func scattered(docs []uint32) bool {
	const line = 512 // bits
	hit, last := uint32(1), docs[0]/line
	for _, x := range docs {
		if x/line != last {
			last = x / line
			hit++
		}
	}
	return hit < (last-docs[0]/line)/3
}

// newSieve returns a sieve of docs with the given number of words, a power of two. The low
// bits of a docID select its bit, so that neighbours have different bits.
func newSieve(docs []uint32, words int) []uint32 {
	sieve := make([]uint32, words)
	for _, x := range docs {
		sieve[int(x>>5)&(words-1)] |= 1 << (x & 31)
	}
	return sieve
}

// filterSieve copies the candidates whose bit is set to dst and returns their number.
func filterSieve(dst, cand, sieve []uint32) int {
	n := 0
	mask := len(sieve) - 1
	for _, x := range cand {
		if i := int(x>>5) & mask; i < len(sieve) { // always true; it avoids a bounds check
			dst[n] = x
			n += int(sieve[i] >> (x & 31) & 1)
		}
	}
	return n
}
