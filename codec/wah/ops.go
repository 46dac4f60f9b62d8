package wah

import "math"

// And appends the vector a AND b to dst, which must not overlap a and b. The operations
// on two vectors work on their words: literals one by one, fills as a whole. A shorter
// vector continues with zeros. The result is canonical and has at most len(a)+len(b)
// words. For invalid words, the result is some vector of any length.
func And[W Word](dst, a, b []W) []W { return merge(dst, a, b, 0, 0, ^W(0)) }

// Or appends the vector a OR b to dst; see And.
func Or[W Word](dst, a, b []W) []W { return merge(dst, a, b, ^W(0), ^W(0), ^W(0)) }

// Xor appends the vector a XOR b to dst; see And.
func Xor[W Word](dst, a, b []W) []W { return merge(dst, a, b, ^W(0), ^W(0), 0) }

// AndNot appends the vector a AND NOT b to dst; see And.
func AndNot[W Word](dst, a, b []W) []W { return merge(dst, a, b, ^W(0), 0, ^W(0)) }

// Not appends the complement of a vector of bits bits to dst; see And. It cuts a longer
// vector.
func Not[W Word](dst, a []W, bits uint64) []W {
	start, left, tail := len(dst), bits/GroupBits[W](), W(0)
	for _, w := range a {
		group, n := w, uint64(1)
		if IsFill(w) {
			group, n = FillOf(w)
		}
		if left > 0 {
			dst = appendGroups(dst, start, group^Ones[W](), min(n, left))
		}
		if n > left {
			left, tail = 0, group
			break
		}
		left -= n
	}
	dst = appendGroups(dst, start, Ones[W](), left)
	if r := bits % GroupBits[W](); r > 0 {
		dst = appendGroups(dst, start, ^tail&(1<<r-1), 1)
	}
	return dst
}

// side is one of two vectors that are read in step.
type side[W Word] struct {
	words []W    // after the current word
	group W      // bits of a group of the current word
	n     uint64 // the number of its remaining groups
	end   bool   // after the last word; zeros without end are current
}

// take makes the next word current.
func (s *side[W]) take() {
	for len(s.words) > 0 {
		w := s.words[0]
		s.words = s.words[1:]
		if !IsFill(w) {
			s.group, s.n = w, 1
			return
		}
		if s.group, s.n = FillOf(w); s.n > 0 {
			return
		}
	}
	s.group, s.n, s.end = 0, math.MaxUint64, true
}

// skip passes n groups.
func (s *side[W]) skip(n uint64) {
	for n >= s.n && !s.end {
		n -= s.n
		s.take()
	}
	if !s.end {
		s.n -= n
	}
}

// merge appends (a AND x) XOR (b AND y) XOR (a AND b AND z) for all groups. Each of x, y
// and z has no bits or all bits, so merge computes any function of two bits that maps 0,
// 0 to 0.
func merge[W Word](dst, a, b []W, x, y, z W) []W {
	start := len(dst)
	s, t := &side[W]{words: a}, &side[W]{words: b}
	s.take()
	t.take()
	for !s.end || !t.end {
		if s.n == 1 && t.n == 1 {
			dst = appendGroups(dst, start, s.group&x^t.group&y^s.group&t.group&z, 1)
			var n int
			dst, n = mergeLiterals(dst, start, s.words, t.words, x, y, z)
			s.words, t.words = s.words[n:], t.words[n:]
			s.take()
			t.take()
			continue
		}
		if s.n < t.n { // s becomes the longer fill
			s, t, x, y = t, s, y, x
		}
		n := t.n
		if other := y ^ s.group&z; other&Ones[W]() == 0 && !s.end {
			n = s.n // t does not matter
		}
		dst = appendGroups(dst, start, s.group&x^t.group&y^s.group&t.group&z, n)
		t.skip(n)
		s.skip(n)
	}
	return dst
}

// mergeLiterals merges words up to a fill and returns their number.
func mergeLiterals[W Word](dst []W, start int, a, b []W, x, y, z W) ([]W, int) {
	flag, n := flag[W](), min(len(a), len(b))
	a, b = a[:n], b[:n]
	for i := range a {
		s, t := a[i], b[i]
		if (s|t)&flag != 0 {
			return dst, i
		}
		if s = s&x ^ t&y ^ s&t&z; ((s-1)|(s+1))&flag == 0 { // neither 0 nor ones
			dst = append(dst, s)
		} else {
			dst = appendFill(dst, start, s, 1)
		}
	}
	return dst, n
}

// appendGroups appends n equal groups to the vector that begins at word start. n is 1
// unless the groups are zeros or ones.
func appendGroups[W Word](words []W, start int, group W, n uint64) []W {
	if ((group-1)|(group+1))&flag[W]() == 0 { // neither 0 nor ones
		return append(words, group)
	}
	return appendFill(words, start, group, n)
}
