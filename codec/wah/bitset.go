package wah

// Bitset returns the number of 64-bit words of a plain bitset of bits bits.
func Bitset(bits uint64) int { return int((bits + 63) / 64) }

// Decompress writes a vector of bits bits to a plain bitset of Bitset(bits) words (Nelson
// et al. 2020, total decompression). Row r is bit r%64 of word r/64. Invalid words give
// an error for which errors.Is(err, ErrCorrupt) holds, and an undefined dst.
func Decompress[W Word](dst []uint64, words []W, bits uint64) error {
	if err := Validate(words, bits); err != nil {
		return err
	}
	clear(dst)
	g, at := GroupBits[W](), uint64(0)
	for _, w := range words {
		if !IsFill(w) {
			setGroup(dst, at, uint64(w))
			at += g
			continue
		}
		group, n := FillOf(w)
		if group != 0 {
			setRun(dst, at, at+n*g)
		}
		at += n * g
	}
	return nil
}

// setGroup sets the ones of a literal whose first row is at.
func setGroup(dst []uint64, at, group uint64) {
	dst[at/64] |= group << (at % 64)
	if over := group >> (64 - at%64); over != 0 { // a shift by 64 gives 0
		dst[at/64+1] |= over
	}
}

// setRun sets bits from to to-1, at least one bit.
func setRun(dst []uint64, from, to uint64) {
	first, last := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	a, b := from/64, (to-1)/64
	if a == b {
		dst[a] |= first & last
		return
	}
	dst[a] |= first
	for i := a + 1; i < b; i++ {
		dst[i] = ^uint64(0)
	}
	dst[b] |= last
}

// Compress appends the vector of a plain bitset of bits bits to dst. It ignores further
// bits of the last word.
func Compress[W Word](dst []W, set []uint64, bits uint64) []W {
	g, start := GroupBits[W](), len(dst)
	last, n := W(0), uint64(0) // the equal groups that were read, but not written
	for at := uint64(0); at < bits; at += g {
		group := set[at/64] >> (at % 64)
		if have := 64 - at%64; have < g && at/64+1 < uint64(len(set)) {
			group |= set[at/64+1] << have
		}
		if left := bits - at; left < g {
			group &= 1<<left - 1
		}
		if w := W(group) & Ones[W](); w != last || w != 0 && w != Ones[W]() {
			dst = appendGroups(dst, start, last, n)
			last, n = w, 0
		}
		n++
	}
	return appendGroups(dst, start, last, n)
}
