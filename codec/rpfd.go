package codec

import "math"

// RPFD is PForDelta with recursive compression of exceptions (Ding et al. 2009,
// section 6.2). The words are the last docIDs of segments, then an array of all
// values. An array of m values, m > 0, and L levels, 0 to 4, is
//
//	header  b in bits [0:6), 0 to 32; L in bits [8:11); the rest zero
//	E       number of exceptions: values of more than b bits
//	slots   ceil(m*b/32) words, the low b bits of value i at bit i*b
//
// If E is not 0, the array is, with blocks of 128 values,
//
//	header, E
//	over       offset of the overflows in words from the header
//	starts     for each block the number of exceptions before it
//	slots
//	offsets    for each exception the number of values between it and the
//	           exception before it in its block, or the start of its block
//	overflows  for each exception (value >> b) - 1
//
// Offsets and overflows are plain words if L is 0, else arrays of E values and L-1
// levels. So the exceptions of a block are a range of two smaller arrays, and every
// block decodes alone.

// MaxRPFDLevels is the largest number of levels of RPFD.
const MaxRPFDLevels = 4

// rpfdArray is a view of an array.
type rpfdArray struct {
	words      []uint32 // header first
	at         int      // word of the header in the list, for errors
	m          int
	b          uint
	level      int
	exceptions int
	blocks     int // words of starts
	slots      int // offset in words, like the next two
	offsets    int
	overflows  int
}

// view sets a to the array of m values at the start of words, at word at of the list.
// words has at least two elements, and three if the array has exceptions.
func (a *rpfdArray) view(words []uint32, m, at int) {
	a.words, a.at, a.m = words, at, m
	a.b, a.level = uint(words[0]&63), int(words[0]>>8)
	a.exceptions, a.blocks, a.slots = int(words[1]), 0, 2
	if a.exceptions > 0 {
		a.blocks = segments(uint32(m))
		a.slots = 3 + a.blocks
		a.overflows = int(words[2])
	}
	a.offsets = a.slots + packWords(m, a.b)
}

// checkRPFD checks an array of m values and all arrays inside it: headers, lengths, and
// the zeros after slots. The array begins at word at of the list and fills words. It
// has the given level; -1 allows any level.
func checkRPFD(words []uint32, m, at, level int) error {
	bad := func(word int, reason string) error {
		return corrupt(RPFD, at+word, "array of %d values: %s", m, reason)
	}
	if len(words) < 3 && (len(words) < 2 || words[1] > 0) {
		return bad(0, "ends inside the header")
	}
	var a rpfdArray
	a.view(words, m, at)
	end := a.offsets
	switch {
	case words[0]&0xc0 != 0 || a.level > MaxRPFDLevels || level >= 0 && a.level != level:
		return bad(0, "header with reserved bits or another level")
	case a.b > 32 || a.b == 32 && a.exceptions > 0:
		return bad(0, "values of more than 32 bits")
	case words[1] > uint32(m):
		return bad(1, "more exceptions than values")
	case end > len(words):
		return bad(0, "ends inside the slots")
	case a.exceptions == 0 && end != len(words):
		return bad(end, "words behind the end")
	case a.exceptions > 0 && (a.overflows < end || a.overflows > len(words)):
		return bad(2, "overflows outside of the array")
	case !zeroAbove(words[a.slots:end], uint(uint64(m)*uint64(a.b)%32)):
		return bad(end-1, "bits behind the last slot")
	}
	if a.exceptions == 0 {
		return nil
	}
	if a.level == 0 {
		if a.overflows-end != a.exceptions || len(words)-a.overflows != a.exceptions {
			return bad(end, "offsets and overflows are not one word an exception")
		}
		return nil
	}
	if err := checkRPFD(words[end:a.overflows], a.exceptions, at+end, a.level-1); err != nil {
		return err
	}
	return checkRPFD(words[a.overflows:], a.exceptions, at+a.overflows, a.level-1)
}

// decode writes len(dst) values from value lo on to dst, at most SegmentLen.
func (a *rpfdArray) decode(dst []uint32, lo int) error {
	if lo%32 == 0 {
		unpack(dst, a.words[a.slots+lo/32*int(a.b):][:packWords(len(dst), a.b)], a.b)
	} else {
		for i := range dst {
			dst[i] = bitsAt(a.words[a.slots:], uint(lo+i)*a.b, a.b)
		}
	}
	if a.exceptions == 0 {
		return nil
	}
	for block := lo / SegmentLen; block*SegmentLen < lo+len(dst); block++ {
		if err := a.patch(dst, lo, block); err != nil {
			return err
		}
	}
	return nil
}

// patch adds the overflows of the exceptions of a block to the values in dst. dst[0] is
// value lo.
func (a *rpfdArray) patch(dst []uint32, lo, block int) error {
	from, to := int(a.words[3+block]), a.exceptions
	if block+1 < a.blocks {
		to = int(a.words[3+block+1])
	}
	end := min((block+1)*SegmentLen, a.m)
	if block == 0 && from != 0 || from < 0 || from > to || to > a.exceptions || to-from > end-block*SegmentLen {
		return corrupt(RPFD, a.at+3+block, "block %d has exceptions %d to %d of %d", block, from, to, a.exceptions)
	}
	if from == to {
		return nil
	}
	var buf [2][SegmentLen]uint32
	offsets, overflows := buf[0][:to-from], buf[1][:to-from]
	if a.level == 0 {
		copy(offsets, a.words[a.offsets+from:])
		copy(overflows, a.words[a.overflows+from:])
	} else {
		var in rpfdArray
		in.view(a.words[a.offsets:], a.exceptions, a.at+a.offsets)
		if err := in.decode(offsets, from); err != nil {
			return err
		}
		in.view(a.words[a.overflows:], a.exceptions, a.at+a.overflows)
		if err := in.decode(overflows, from); err != nil {
			return err
		}
	}
	i := uint64(block * SegmentLen)
	for j, skip := range offsets {
		i += uint64(skip)
		v := (uint64(overflows[j]) + 1) << a.b
		if i >= uint64(end) || v > math.MaxUint32 {
			return corrupt(RPFD, a.at+3+block, "exception %d of block %d has index %d and overflow %d", j, block, i, overflows[j])
		}
		if k := int(i) - lo; k >= 0 && k < len(dst) {
			dst[k] |= uint32(v)
		}
		i++
	}
	return nil
}

// decodeRPFD writes the docIDs of segment seg to dst, whose length is their count. n is
// the length of the list.
func decodeRPFD(dst []uint32, t *gapTables, n, seg int) error {
	var a rpfdArray
	a.view(t.payload, n, len(t.last))
	if err := a.decode(dst, seg*SegmentLen); err != nil {
		return err
	}
	return t.sum(RPFD, dst, seg)
}
