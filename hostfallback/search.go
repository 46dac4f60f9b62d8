package hostfallback

import "heddle/codec"

// The loops of this file are the algorithms of Ao et al. 2011 on plain lists:
// each candidate is looked up by itself, as a work-item of the device does. All
// of them copy what they find to the front of dst, which may be cand itself.

// filterBits looks up one bit a candidate, without branches: every candidate is
// written, and the cursor moves by its bit.
func filterBits(dst, cand, bits []uint32) int {
	n := 0
	for _, x := range cand {
		if i := int(x >> 5); i < len(bits) {
			dst[n] = x
			n += int(bits[i] >> (x & 31) & 1)
		}
	}
	return n
}

// filterBinary is BS: binary search over the whole list (section 4.2).
func filterBinary(dst, cand, docs []uint32) int {
	n := 0
	for _, x := range cand {
		if contains(docs, x) {
			dst[n] = x
			n++
		}
	}
	return n
}

// filterLine is LR: binary search in the safe range of the regression line
// (section 4.3).
func filterLine(dst, cand, docs []uint32, line *codec.Line) int {
	n := 0
	for _, x := range cand {
		lo, hi := line.Range(x, uint32(len(docs)))
		if contains(docs[lo:hi], x) {
			dst[n] = x
			n++
		}
	}
	return n
}

// filterBuckets is HS: binary search in a hash bucket (section 4.4).
func filterBuckets(dst, cand, docs []uint32, b *buckets) int {
	n := 0
	for _, x := range cand {
		lo, hi := b.find(x)
		if contains(docs[lo:hi], x) {
			dst[n] = x
			n++
		}
	}
	return n
}

// find is the range of indexes of the bucket of x.
func (b *buckets) find(x uint32) (lo, hi uint32) {
	if h := int(x >> b.shift); h+1 < len(b.first) {
		return b.first[h], b.first[h+1]
	}
	return 0, 0
}

// contains tells whether ascending docs have x.
func contains(docs []uint32, x uint32) bool {
	base, n := 0, len(docs)
	for n > 1 {
		half := n / 2
		if docs[base+half] <= x {
			base += half
		}
		n -= half
	}
	return n == 1 && docs[base] == x
}

// lowerBound is the index of the first of ascending docs that is not below x.
func lowerBound(docs []uint32, x uint32) int {
	lo, hi := 0, len(docs)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if docs[mid] < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
