package codec

// Simple16 packs as many values as fit into each word. The values lie in bits 0 to 27,
// the first value lowest. A selector in bits 28 to 31 gives their widths. After the
// last value of a sequence, a word has zeros.

// s16Max is the largest value.
const s16Max = 1<<28 - 1

// s16Widths has the widths of the values in a word, by selector, ended by 0. Selectors
// of more values come first.
var s16Widths = [16][29]uint8{
	s16Row(28, 1), s16Row(7, 2, 14, 1), s16Row(7, 1, 7, 2, 7, 1), s16Row(14, 1, 7, 2),
	s16Row(14, 2), s16Row(1, 4, 8, 3), s16Row(1, 3, 4, 4, 3, 3), s16Row(7, 4),
	s16Row(4, 5, 2, 4), s16Row(2, 4, 4, 5), s16Row(3, 6, 2, 5), s16Row(2, 5, 3, 6),
	s16Row(4, 7), s16Row(1, 10, 2, 9), s16Row(2, 14), s16Row(1, 28),
}

// s16Row expands pairs of a count and a width.
func s16Row(pairs ...uint8) (row [29]uint8) {
	n := 0
	for i := 0; i < len(pairs); i += 2 {
		for range pairs[i] {
			row[n] = pairs[i+1]
			n++
		}
	}
	return row
}

// s16Fit returns the selector that fits the most values, at least one, into a word, and
// their number.
func s16Fit(values []uint32) (selector, n int) {
search:
	for selector = range s16Widths {
		n = 0
		for _, width := range &s16Widths[selector] {
			if width == 0 || n == len(values) {
				return selector, n
			}
			if values[n]>>width != 0 {
				continue search
			}
			n++
		}
	}
	return selector, n
}

// s16Words returns the number of words that values take.
func s16Words(values []uint32) (words int) {
	for len(values) > 0 {
		_, n := s16Fit(values)
		values = values[n:]
		words++
	}
	return words
}

// appendS16 appends the words of values, each at most s16Max.
func appendS16(dst, values []uint32) []uint32 {
	for len(values) > 0 {
		selector, n := s16Fit(values)
		word, shift := uint32(selector)<<28, uint8(0)
		for i, v := range values[:n] {
			word |= v << shift
			shift += s16Widths[selector][i]
		}
		dst = append(dst, word)
		values = values[n:]
	}
	return dst
}

// decodeS16 fills dst. It tells whether the words hold exactly as many values.
func decodeS16(dst, words []uint32) bool {
	for _, word := range words {
		if len(dst) == 0 {
			return false
		}
		rest := word & s16Max
		for i, width := range &s16Widths[word>>28] {
			if width == 0 || i == len(dst) {
				dst = dst[i:]
				break
			}
			dst[i] = rest & (1<<(width&31) - 1)
			rest >>= width & 31
		}
		if rest != 0 {
			return false
		}
	}
	return len(dst) == 0
}
