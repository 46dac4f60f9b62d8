package codec

import "math"

// rpfdEncoder holds the exceptions of the arrays that are being written, by level. The
// outermost array has the highest level.
type rpfdEncoder [MaxRPFDLevels + 1]struct{ offsets, overflows []uint32 }

// split returns the offsets and overflows of the exceptions of values for width b.
func (e *rpfdEncoder) split(values []uint32, b uint, level int) (offsets, overflows []uint32) {
	x := &e[level]
	x.offsets, x.overflows = x.offsets[:0], x.overflows[:0]
	next := 0
	for i, v := range values {
		if i%SegmentLen == 0 {
			next = i
		}
		if v>>b != 0 {
			x.offsets = append(x.offsets, uint32(i-next))
			x.overflows = append(x.overflows, v>>b-1)
			next = i + 1
		}
	}
	return x.offsets, x.overflows
}

// choose returns the width of the fewest words for an array of values, the largest of
// equals, among the widths with at most 3/5 of the values as exceptions.
func (e *rpfdEncoder) choose(values []uint32, level int) (b uint, words int) {
	large := wider(values)
	words = 3 + packWords(len(values), 32)
	for try := 32; try >= 0 && large[try] <= len(values)*3/5; try-- {
		w := 2 + packWords(len(values), uint(try))
		if large[try] > 0 {
			if w += 1 + segments(uint32(len(values))); w >= words {
				continue
			}
			if level == 0 {
				w += 2 * large[try]
			} else {
				offsets, overflows := e.split(values, uint(try), level)
				_, o := e.choose(offsets, level-1)
				_, v := e.choose(overflows, level-1)
				w += o + v
			}
		}
		if w < words {
			b, words = uint(try), w
		}
	}
	return b, words
}

// append appends the array of values, of which there is at least one.
func (e *rpfdEncoder) append(dst, values []uint32, level int) []uint32 {
	at := len(dst)
	b, _ := e.choose(values, level)
	offsets, overflows := e.split(values, b, level)
	dst = append(dst, uint32(b)|uint32(level)<<8, uint32(len(offsets)))
	if len(offsets) == 0 {
		return appendLow(dst, values, b)
	}
	dst = append(dst, 0) // over
	en := uint32(0)
	for i, v := range values {
		if i%SegmentLen == 0 {
			dst = append(dst, en)
		}
		if v>>b != 0 {
			en++
		}
	}
	dst = appendLow(dst, values, b)
	if level == 0 {
		dst = append(dst, offsets...)
		dst[at+2] = uint32(len(dst) - at)
		return append(dst, overflows...)
	}
	dst = e.append(dst, offsets, level-1)
	dst[at+2] = uint32(len(dst) - at)
	return e.append(dst, overflows, level-1)
}

// leastRPFD is a lower bound of sizeRPFD, from the widths of the gaps alone.
func leastRPFD(docs []uint32, large [33]int, opt Options) int {
	return segments(uint32(len(docs))) + leastArray(large, len(docs), opt.RPFDLevels)
}

// leastArray is a lower bound of the words of an array of n values, of which at most large[b] have more
// than b bits. Offsets count as 0 bits, so that the bound is a lower one. An overflow has at least the bits of its value less b+1.
func leastArray(large [33]int, n, level int) int {
	words := math.MaxInt
	for b := int(widest(&large)); b >= 0 && large[b] <= n*3/5; b-- {
		w := 2 + packWords(n, uint(b))
		if en := large[b]; en > 0 {
			w += 1 + segments(uint32(n))
			if level == 0 {
				w += 2 * en
			} else {
				var over [33]int
				copy(over[:], large[b+1:])
				w += 2 + leastArray(over, en, level-1)
			}
		}
		words = min(words, w)
	}
	return words
}

// allGaps returns the gaps of all docs.
func allGaps(docs []uint32) []uint32 {
	values := make([]uint32, len(docs))
	before := ^uint32(0)
	for i, d := range docs {
		values[i] = d - before - 1
		before = d
	}
	return values
}

func appendRPFD(dst, docs []uint32, opt Options) []uint32 {
	if len(docs) == 0 {
		return dst
	}
	var e rpfdEncoder
	return e.append(appendLast(dst, docs), allGaps(docs), opt.RPFDLevels)
}

func sizeRPFD(docs []uint32, opt Options) int {
	if len(docs) == 0 {
		return 0
	}
	var e rpfdEncoder
	_, words := e.choose(allGaps(docs), opt.RPFDLevels)
	return segments(uint32(len(docs))) + words
}
