package codec

import "math"

// RPFD, PForDelta with recursive compression of exceptions (Ding et al. 2009,
// section 6.2). The words are Last, then an array of all values. An array of m
// values, m > 0, and L levels, 0 to 4, is
//
//	header  b in bits [0:6), 0 to 32; L in bits [8:11); the rest zero
//	E       number of exceptions: values of more than b bits
//	slots   ceil(m*b/32) words, the low b bits of value i at bit i*b
//
// and when E is not 0, with blocks of 128 values,
//
//	header, E
//	over       offset of the overflows in words from the header
//	starts     a word a block, the number of exceptions before it
//	slots
//	offsets    for each exception the number of values between it and the
//	           exception before it in its block, or the start of its block
//	overflows  for each exception (value >> b) - 1
//
// Offsets and overflows are plain words when L is 0, else arrays of E values and
// L-1 levels. So the exceptions of a block are a range of two smaller arrays, and
// any block decodes alone.

// MaxRPFDLevels is the largest number of levels of RPFD.
const MaxRPFDLevels = 4

// rpfdArray is a view of an array.
type rpfdArray struct {
	at         int // offset of its header in the list, for errors
	m          int
	b          uint
	level      int
	exceptions int
	starts     []uint32 // empty without exceptions, as are the next two
	slots      []uint32
	offsets    []uint32 // to the start of the overflows
	overflows  []uint32 // to the end of the list
}

// rpfd views the array of m values that begins words, of a list where the words
// begin at word at. Lengths are checked, but those of the arrays inside.
func rpfd(words []uint32, m, at int) (a rpfdArray, err error) {
	bad := func(reason string) (rpfdArray, error) {
		return rpfdArray{}, corrupt(RPFD, at, "array of %d values: %s", m, reason)
	}
	if len(words) < 2 {
		return bad("ends inside the header")
	}
	h := words[0]
	a = rpfdArray{at: at, m: m, b: uint(h & 63), level: int(h >> 8)}
	switch {
	case h&0xc0 != 0 || a.level > MaxRPFDLevels:
		return bad("header with reserved bits")
	case words[1] > uint32(m):
		return bad("more exceptions than values")
	case a.b > 32 || a.b == 32 && words[1] > 0:
		return bad("values of more than 32 bits")
	}
	a.exceptions = int(words[1])
	head, low := 2, (uint64(m)*uint64(a.b)+31)/32
	if a.exceptions > 0 {
		head = 3 + segments(uint32(m))
	}
	if uint64(len(words)) < uint64(head)+low {
		return bad("ends inside the slots")
	}
	end := head + int(low)
	a.slots = words[head:end:end]
	if a.exceptions > 0 {
		over := words[2]
		if uint64(over) < uint64(end) || uint64(over) > uint64(len(words)) {
			return bad("overflows outside of it")
		}
		a.starts, a.offsets, a.overflows = words[3:head], words[end:over], words[over:]
	}
	return a, nil
}

// inside views the array of offsets or overflows, whose words begin at word at of
// the list.
func (a *rpfdArray) inside(words []uint32, at int) (rpfdArray, error) {
	in, err := rpfd(words, a.exceptions, at)
	if err == nil && in.level != a.level-1 {
		err = corrupt(RPFD, at, "%d levels inside of %d", in.level, a.level)
	}
	return in, err
}

// offsetsAt and overflowsAt are where these lie in the list.
func (a *rpfdArray) offsetsAt() int {
	head := 2
	if a.exceptions > 0 {
		head = 3 + len(a.starts)
	}
	return a.at + head + len(a.slots)
}
func (a *rpfdArray) overflowsAt() int { return a.offsetsAt() + len(a.offsets) }

// checkRPFD checks the array of n values that the payload must be.
func (t *gapTables) checkRPFD(n int) error {
	if n == 0 {
		return nil
	}
	a, err := rpfd(t.payload, n, len(t.last))
	if err != nil {
		return err
	}
	return a.check(t.payload)
}

// check checks the lengths of all arrays inside, the zeros behind slots, and that
// the array, which begins words, is all of them.
func (a rpfdArray) check(words []uint32) error {
	if !zeroAbove(a.slots, uint(uint64(a.m)*uint64(a.b)%32)) {
		return corrupt(RPFD, a.offsetsAt()-1, "bits behind the last slot")
	}
	if a.exceptions == 0 {
		if rest := a.offsetsAt() - a.at; rest != len(words) {
			return corrupt(RPFD, a.at+rest, "%d words behind the end of an array", len(words)-rest)
		}
		return nil
	}
	for _, part := range []struct {
		words []uint32
		at    int
	}{{a.offsets, a.offsetsAt()}, {a.overflows, a.overflowsAt()}} {
		if a.level == 0 {
			if len(part.words) != a.exceptions {
				return corrupt(RPFD, part.at, "%d words for %d exceptions", len(part.words), a.exceptions)
			}
			continue
		}
		in, err := a.inside(part.words, part.at)
		if err != nil {
			return err
		}
		if err := in.check(part.words); err != nil {
			return err
		}
	}
	return nil
}

// decode writes the values from lo on to dst, at most a block of them.
func (a *rpfdArray) decode(dst []uint32, lo int) error {
	if lo%32 == 0 {
		first := lo / 32 * int(a.b)
		unpack(dst, a.slots[first:first+packWords(len(dst), a.b)], a.b)
	} else {
		for i := range dst {
			dst[i] = bitsAt(a.slots, uint(lo+i)*a.b, a.b)
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

// patch adds the overflows of the exceptions of a block to the values in dst,
// which begin with value lo.
func (a *rpfdArray) patch(dst []uint32, lo, block int) error {
	from, to := int(a.starts[block]), a.exceptions
	if block+1 < len(a.starts) {
		to = int(a.starts[block+1])
	}
	end := min((block+1)*SegmentLen, a.m)
	if block == 0 && from != 0 || from > to || to > a.exceptions || to-from > end-block*SegmentLen {
		return corrupt(RPFD, a.at+3+block, "block %d has exceptions %d to %d of %d", block, from, to, a.exceptions)
	}
	if from == to {
		return nil
	}
	var buf [2][SegmentLen]uint32
	offsets, overflows := buf[0][:to-from], buf[1][:to-from]
	if a.level == 0 {
		offsets, overflows = a.offsets[from:to], a.overflows[from:to]
	} else {
		in, err := a.inside(a.offsets, a.offsetsAt())
		if err == nil {
			err = in.decode(offsets, from)
		}
		if err != nil {
			return err
		}
		if in, err = a.inside(a.overflows, a.overflowsAt()); err == nil {
			err = in.decode(overflows, from)
		}
		if err != nil {
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

// decodeRPFD writes the docIDs of segment seg to dst, whose length is their
// count, n that of the list.
func decodeRPFD(dst []uint32, t *gapTables, n, seg int) error {
	a, err := rpfd(t.payload, n, len(t.last))
	if err != nil {
		return err
	}
	if err := a.decode(dst, seg*SegmentLen); err != nil {
		return err
	}
	return t.sum(RPFD, dst, seg)
}
