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
	b, ib, hb, en := h.b(), h.ib(), h.hb(), h.en()
	at, low := len(dst), h.lowWords(len(values))
	dst = append(dst, zeros[:low+h.exceptionWords()]...)
	mask := uint32(1<<b - 1)
	w := bitWriter{dst: dst[at : at+low]}
	for _, v := range values {
		w.put(v&mask, b)
	}
	w.flush()
	if en == 0 {
		return dst
	}
	var over [SegmentLen]uint32
	w, n := bitWriter{dst: dst[at+low:]}, 0
	for i, v := range values {
		if v > mask {
			w.put(uint32(i), ib)
			over[n] = v >> b
			n++
		}
	}
	for _, v := range over[:n] {
		w.put(v, hb)
	}
	w.flush()
	return dst
}

// zeros is as long as the longest payload: 128 values of 32 bits, for exceptions
// are only taken where they save words.
var zeros [SegmentLen]uint32

// bitWriter fills dst with values of up to 32 bits, low bits first.
type bitWriter struct {
	dst  []uint32
	acc  uint64
	used int // bits of acc, below 32 between calls
}

// put writes the low n bits of v, whose other bits must be zero.
func (w *bitWriter) put(v uint32, n int) {
	w.acc |= uint64(v) << (w.used & 63)
	w.used += n
	if w.used >= 32 {
		w.dst[0] = uint32(w.acc)
		w.dst = w.dst[1:]
		w.acc >>= 32
		w.used -= 32
	}
}

// flush writes the bits that are left.
func (w *bitWriter) flush() {
	if w.used > 0 {
		w.dst[0] = uint32(w.acc)
	}
}
