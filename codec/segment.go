package codec

import "math/bits"

// chooseWidth finds the header for the values of one segment: the width b of
// the fewest words among those that leave at most opt.exceptions values over;
// among equals that of the fewest exceptions, then the smallest b.
func chooseWidth(values []uint32, opt Options) header {
	var count [33]int   // values by bit length
	var largest [33]int // largest index of a value by bit length
	for i, v := range values {
		n := bits.Len32(v)
		count[n]++
		largest[n] = i
	}
	top := 32
	for top > 0 && count[top] == 0 {
		top--
	}
	best := makeHeader(top, 0, 0, 0)
	words := best.lowWords(len(values))
	allowed := opt.exceptions(len(values))
	en, index := 0, 0
	for b := top - 1; b >= 0; b-- {
		en += count[b+1]
		index = max(index, largest[b+1])
		if en > allowed {
			break
		}
		h := makeHeader(b, top-b, bits.Len(uint(index)), en)
		w := h.lowWords(len(values)) + h.exceptionWords()
		if w < words || w == words && en == best.en() {
			best, words = h, w
		}
	}
	return best
}

// appendSegment appends the payload of one segment under header h.
func appendSegment(dst, values []uint32, h header) []uint32 {
	b, ib, hb := h.b(), h.ib(), h.hb()
	w := bitWriter{dst: dst}
	for _, v := range values {
		w.put(v&(1<<b-1), b)
	}
	w.flush()
	if h.en() > 0 {
		for i, v := range values {
			if v>>b != 0 {
				w.put(uint32(i), ib)
			}
		}
		for _, v := range values {
			if v>>b != 0 {
				w.put(v>>b, hb)
			}
		}
		w.flush()
	}
	return w.dst
}

// bitWriter appends values of up to 32 bits to words, low bits first.
type bitWriter struct {
	dst  []uint32
	acc  uint64
	used int // bits of acc, below 32 between calls
}

// put appends the low n bits of v, whose other bits must be zero.
func (w *bitWriter) put(v uint32, n int) {
	w.acc |= uint64(v) << w.used
	w.used += n
	if w.used >= 32 {
		w.dst = append(w.dst, uint32(w.acc))
		w.acc >>= 32
		w.used -= 32
	}
}

// flush fills the last word with zeros.
func (w *bitWriter) flush() {
	if w.used > 0 {
		w.dst = append(w.dst, uint32(w.acc))
	}
	w.acc, w.used = 0, 0
}

// bitsAt reads n bits, 0 to 32, at bit position pos, all inside words.
func bitsAt(words []uint32, pos, n int) uint32 {
	if n == 0 {
		return 0
	}
	i := pos / 32
	w := uint64(words[i])
	if i+1 < len(words) {
		w |= uint64(words[i+1]) << 32
	}
	return uint32(w >> (pos % 32) & (1<<n - 1))
}

// unpack reads len(dst) values of b bits each from the start of src.
func unpack(dst, src []uint32, b int) {
	for i := range dst {
		dst[i] = bitsAt(src, i*b, b)
	}
}
