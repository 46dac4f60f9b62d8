package lookup

import (
	"heddle/codec"
	"heddle/hostfallback/internal/match/docset"
)

// The random searches are the algorithms of Ao et al. 2011 on plain lists. They look up each
// candidate by itself, like a work-item of a device. They copy the candidates that the list
// contains to the front of dst, which is at least as long as cand and may be cand, and return
// their number.
//
// No branch depends on data: every candidate is written, and the cursor moves only behind a
// hit. Four binary searches run side by side and hide the latency of memory. This is three to
// five times as fast as the obvious loop, which mispredicts half of its branches.

// filterBits looks up one bit for each candidate.
func filterBits(dst, cand, bits []uint32) int {
	n := 0
	for len(cand) >= 4 {
		w, x, y, z := cand[0], cand[1], cand[2], cand[3]
		if int(max(w, x, y, z)>>5) >= len(bits) {
			break
		}
		cand = cand[4:]
		dst[n] = w
		n += int(bits[w>>5] >> (w & 31) & 1)
		dst[n] = x
		n += int(bits[x>>5] >> (x & 31) & 1)
		dst[n] = y
		n += int(bits[y>>5] >> (y & 31) & 1)
		dst[n] = z
		n += int(bits[z>>5] >> (z & 31) & 1)
	}
	for _, x := range cand {
		if i := int(x >> 5); i < len(bits) {
			dst[n] = x
			n += int(bits[i] >> (x & 31) & 1)
		}
	}
	return n
}

// touch loads words that filterBits will need. Scattered candidates hit single words of a
// bitset, which no hardware prefetches; many loads of this short loop run at the same time.
// For clustered candidates it would only delay the hardware prefetcher.
//
//go:noinline
func touch(cand, bits []uint32) (sum uint32) {
	for i := 0; i < len(cand); i += 8 {
		if w := int(cand[i] >> 5); w < len(bits) {
			sum += bits[w]
		}
	}
	return sum // keeps the loads alive
}

// filterBinary is BS: binary search over the whole list (section 4.2).
func filterBinary(dst, cand, docs []uint32) int {
	n := 0
	var window [4]int
	for ; len(cand) >= 4; cand = cand[4:] {
		n += search4(dst[n:], (*[4]uint32)(cand), &window, len(docs), docs)
	}
	for _, x := range cand {
		dst[n] = x
		n += contains(docs, x)
	}
	return n
}

// filterLoop is the binary search of textbooks, the baseline of filterBinary.
func filterLoop(dst, cand, docs []uint32) int {
	n := 0
	for _, x := range cand {
		lo, hi := 0, len(docs)
		for lo < hi {
			if mid := int(uint(lo+hi) / 2); docs[mid] < x {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if lo < len(docs) && docs[lo] == x {
			dst[n] = x
			n++
		}
	}
	return n
}

// filterLine is LR: binary search in the safe range of the regression line
// (section 4.3). The range has the same width for every candidate.
func filterLine(dst, cand, docs []uint32, line *codec.Line) int {
	width := int(min(line.Left+line.Right+1, int64(len(docs))))
	last := int64(len(docs) - width) // the start of the last window
	n := 0
	var window [4]int
	for ; len(cand) >= 4; cand = cand[4:] {
		c := (*[4]uint32)(cand)
		for i := range c {
			p := (int64(c[i])*line.Slope+line.Intercept)>>codec.LineShift - line.Left
			window[i] = int(min(max(p, 0), last))
		}
		n += search4(dst[n:], c, &window, width, docs)
	}
	for _, x := range cand {
		lo, hi := line.Range(x, uint32(len(docs)))
		dst[n] = x
		n += contains(docs[lo:hi], x)
	}
	return n
}

// filterBuckets is HS: binary search in a hash bucket (section 4.4). Four searches run side
// by side, with the steps of the largest bucket.
func filterBuckets(dst, cand, docs []uint32, b *Buckets) int {
	n := 0
	var window [4]int
	shift := b.Shift & 31
	for len(cand) >= 4 {
		c := (*[4]uint32)(cand)
		if int(max(c[0], c[1], c[2], c[3])>>shift)+1 >= len(b.First) {
			break
		}
		cand = cand[4:]
		width := 0
		for i := range c {
			h := int(c[i] >> shift)
			window[i] = int(b.First[h])
			width = max(width, int(b.First[h+1])-window[i])
		}
		if width > 0 {
			last := len(docs) - width
			for i := range window {
				window[i] = min(window[i], last)
			}
			n += search4(dst[n:], c, &window, width, docs)
		}
	}
	for _, x := range cand {
		lo, hi := b.Find(x)
		dst[n] = x
		n += contains(docs[lo:hi], x)
	}
	return n
}

// Find returns the range of indexes of the bucket of x.
func (b *Buckets) Find(x uint32) (lo, hi uint32) {
	if h := int(x >> b.Shift); h+1 < len(b.First) {
		return b.First[h], b.First[h+1]
	}
	return 0, 0
}

// search4 looks up four candidates, each in its window of width docIDs, copies the hits to
// dst and returns their number. Windows lie inside docs. A window may be larger than the
// bucket, because docs ascend.
func search4(dst []uint32, cand *[4]uint32, window *[4]int, width int, docs []uint32) int {
	if width == 0 {
		return 0
	}
	a, b, c, d := window[0], window[1], window[2], window[3]
	w, x, y, z := int64(cand[0])+1, int64(cand[1])+1, int64(cand[2])+1, int64(cand[3])+1
	for width > 1 {
		half := width >> 1
		a += half & docset.Below(docs[a+half], w)
		b += half & docset.Below(docs[b+half], x)
		c += half & docset.Below(docs[c+half], y)
		d += half & docset.Below(docs[d+half], z)
		width -= half
	}
	n := 0
	dst[n] = uint32(w - 1)
	n += docset.Equal(docs[a], dst[n])
	dst[n] = uint32(x - 1)
	n += docset.Equal(docs[b], dst[n])
	dst[n] = uint32(y - 1)
	n += docset.Equal(docs[c], dst[n])
	dst[n] = uint32(z - 1)
	n += docset.Equal(docs[d], dst[n])
	return n
}

// contains is 1 if ascending docs have x, else 0.
func contains(docs []uint32, x uint32) int {
	if len(docs) == 0 {
		return 0
	}
	at, width := 0, len(docs)
	for width > 1 {
		half := width >> 1
		at += half & docset.Below(docs[at+half], int64(x)+1)
		width -= half
	}
	return docset.Equal(docs[at], x)
}
