package compress

import "encoding/binary"

// Front coding omits the prefix that a string shares with the string before it. A byte holds the
// length of the prefix in its upper half, and the length of the rest in its lower half. A half of
// 15 stands for a greater length: a varint of the excess follows. The rest is last.

// FrontHead is the most bytes before the rest of a string of at most 64 KiB.
const FrontHead = 1 + 3 + 3

// AppendFront appends s, which follows before.
func AppendFront(dst []byte, before, s string) []byte {
	shared := 0
	for shared < min(len(before), len(s)) && before[shared] == s[shared] {
		shared++
	}
	rest := len(s) - shared
	dst = append(dst, byte(min(shared, 15)<<4|min(rest, 15)))
	for _, n := range []int{shared, rest} {
		if n >= 15 {
			dst = binary.AppendUvarint(dst, uint64(n-15))
		}
	}
	return append(dst, s[shared:]...)
}

// MaxString is the number of bytes that a front-coded string may have.
const MaxString = 64 << 10

// ReadFront cuts the first string from b: the length of its shared prefix and its rest.
// It returns false where b ends too early, or the string is longer than MaxString.
func ReadFront(b []byte) (shared int, rest, after []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, nil, false
	}
	lengths := [2]uint64{uint64(b[0] >> 4), uint64(b[0] & 15)}
	b = b[1:]
	for i, n := range lengths {
		if n < 15 {
			continue
		}
		more, size := binary.Uvarint(b)
		if size <= 0 || more > MaxString {
			return 0, nil, nil, false
		}
		lengths[i], b = 15+more, b[size:]
	}
	if lengths[0]+lengths[1] > MaxString || lengths[1] > uint64(len(b)) {
		return 0, nil, nil, false
	}
	return int(lengths[0]), b[:lengths[1]], b[lengths[1]:], true
}

// FrontReader reads front-coded strings one behind the other.
type FrontReader struct {
	Text []byte // the last string; the next overwrites it
	Rest []byte // the strings behind it
}

// Next returns the reader behind the next string, and false for damage and at the end. It is a value, so
// that a caller can keep the text on its stack.
func (r FrontReader) Next() (FrontReader, bool) {
	shared, rest, after, ok := ReadFront(r.Rest)
	if !ok || shared > len(r.Text) {
		return r, false
	}
	return FrontReader{append(r.Text[:shared], rest...), after}, true
}
