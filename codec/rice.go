package codec

import (
	"math"
	"math/bits"
)

// Rice is the codec of Ding et al. 2009, section 6.1. A value v is the quotient v >> b
// in a unary bit vector and the low b bits in a binary bit vector. One b, 0 to 31,
// holds for the list. The words are
//
//   - the last docIDs of segments
//   - Ones: for each segment the sum of the quotients before it
//   - b
//   - the binary vector, with value i at bit i*b
//   - the unary vector, with a quotient q as q ones and a zero
//
// So the unary codes of segment s begin at bit 128*s + Ones[s] and end with their last
// zero. Zeros fill the last word of each vector.
//
// Let p_j be the position of zero j of a segment, counted from its first bit. The
// quotients up to value j add up to p_j - j. So two prefix sums within the segment, of
// the binary codes and of the bits, give the docIDs.

// riceList is a view of the words of a Rice list.
type riceList struct {
	b      uint
	binary []uint32
	unary  []uint32
}

// rice returns a view of the vectors. It checks their lengths, b, and the zeros after
// the binary codes.
func (l List) rice(t *gapTables) (r riceList, err error) {
	if l.Len == 0 {
		return r, nil
	}
	at := len(l.Words) - len(t.payload)
	if len(t.payload) == 0 {
		return r, corrupt(Rice, at, "ends before the width")
	}
	if r.b = uint(t.payload[0]); r.b > 31 {
		return r, corrupt(Rice, at, "binary codes of %d bits", r.b)
	}
	n := uint64(l.Len) * uint64(r.b)
	words := (n + 31) / 32
	if uint64(len(t.payload)-1) < words+uint64(l.Len+31)/32 {
		return r, corrupt(Rice, len(l.Words), "ends inside the codes of %d values", l.Len)
	}
	r.binary, r.unary = t.payload[1:1+words:1+words], t.payload[1+words:]
	if !zeroAbove(r.binary, uint(n%32)) {
		return r, corrupt(Rice, at+int(words), "bits behind the last binary code")
	}
	return r, nil
}

// decode writes the docIDs of segment seg to dst, whose length is their count.
func (r *riceList) decode(dst []uint32, t *gapTables, seg int) error {
	first := r.b * 4 * uint(seg)
	docID := unpackGaps(dst, r.binary[first:first+uint(packWords(len(dst), r.b))], r.b, t.base(seg))

	start := uint64(seg)*SegmentLen + uint64(t.dir[seg])
	i := int(start / 32)
	if seg == 0 && start != 0 || i >= len(r.unary) {
		return corrupt(Rice, len(t.last)+seg, "segment %d: unary codes at bit %d of %d words", seg, start, len(r.unary))
	}
	// Zeros of the stream are ones of w. Bit 0 of w is bit at of the segment. The
	// first at is negative, modulo 2^64.
	w := uint64(^r.unary[i]) &^ (1<<(start%32) - 1)
	at := -(start % 32)
	size := uint64(32)
	sum := uint64(0)
	b := r.b & 31
	for j := 0; ; {
		for ; w != 0 && j < len(dst); w &= w - 1 {
			sum = at + uint64(bits.TrailingZeros64(w)) - uint64(j)
			dst[j] += uint32(sum) << b
			j++
		}
		if j == len(dst) {
			break
		}
		at += size
		i += int(size / 32)
		switch left := len(r.unary) - i; {
		case left >= 2:
			w, size = ^(uint64(r.unary[i]) | uint64(r.unary[i+1])<<32), 64
		case left == 1:
			w, size = uint64(^r.unary[i]), 32
		default:
			return corrupt(Rice, len(t.last)+len(t.dir)+1+len(r.binary)+len(r.unary), "segment %d: ends after %d of %d unary codes", seg, j, len(dst))
		}
	}
	if err := r.checkEnd(t, seg, start+sum+uint64(len(dst))); err != nil {
		return err
	}
	if sum > 1<<32-1 { // the docID would not fit either
		return corrupt(Rice, len(t.last)+seg, "segment %d: quotients sum up to %d", seg, sum)
	}
	return t.checkEnd(Rice, seg, docID+sum<<r.b)
}

// checkEnd checks the end of the unary codes of segment seg, before bit end. The next
// segment begins there, or only zeros follow up to the end of the list.
func (r *riceList) checkEnd(t *gapTables, seg int, end uint64) error {
	if seg+1 < len(t.last) {
		if next := uint64(seg+1)*SegmentLen + uint64(t.dir[seg+1]); end != next {
			return corrupt(Rice, len(t.last)+seg+1, "segment %d: unary codes end at bit %d, the next begin at %d", seg, end, next)
		}
		return nil
	}
	if (end+31)/32 != uint64(len(r.unary)) || !zeroAbove(r.unary, uint(end%32)) {
		return corrupt(Rice, len(t.last)+len(t.dir)+1+len(r.binary)+int((end-1)/32), "bits behind the last unary code")
	}
	return nil
}

// riceWidth returns the b of the fewest bits, the largest of equals, and the sum of the
// quotients. The number of bits is convex in b: one more bit costs n bits and saves
// the sum of ceil(q/2) bits. The savings shrink with b, and are below n once 2^b
// exceeds the mean. So the mean quotient at the best b is at most 2 for every list.
func riceWidth(docs []uint32) (b uint, ones uint64) {
	n := uint64(len(docs))
	all := uint64(docs[n-1]) + 1 - n // sum of all gaps
	b = uint(min(bits.Len64(all/n), 31))
	ones = riceOnes(docs, b)
	for b > 0 {
		next := riceOnes(docs, b-1)
		if next >= n+ones {
			break
		}
		b, ones = b-1, next
	}
	return b, ones
}

// riceOnes returns the sum of the quotients for width b.
func riceOnes(docs []uint32, b uint) (ones uint64) {
	before := ^uint32(0)
	for _, d := range docs {
		ones += uint64((d - before - 1) >> (b & 31))
		before = d
	}
	return ones
}

// leastRice is a lower bound of sizeRice. A gap of k bits is at least 2^(k-1). For width b the quotients
// add up to at least the sum of all gaps, less the greatest remainder of each, over 2^b.
func leastRice(docs []uint32, large [33]int, _ Options) int {
	n := int64(len(docs))
	all := int64(docs[n-1]) + 1 - n // sum of all gaps
	least := int64(math.MaxInt64)
	for b := range 32 {
		ones := max(all-n*(1<<b-1), 0) >> b
		byWidth := int64(large[b])
		for k := b + 1; k < 32; k++ {
			byWidth += int64(large[k]) << (k - b - 1)
		}
		least = min(least, n*int64(b)+n+max(ones, byWidth))
	}
	return 2*segments(uint32(n)) + 1 + int((least+31)/32)
}

func appendRice(dst, docs []uint32) []uint32 {
	n := len(docs)
	if n == 0 {
		return dst
	}
	b, ones := riceWidth(docs)
	nseg := segments(uint32(n))
	dst = appendLast(dst, docs)
	dir := len(dst)
	dst = append(appendZeros(dst, nseg), uint32(b))
	at, words := len(dst), packWords(n, b)
	dst = appendZeros(dst, words+int((ones+uint64(n)+31)/32))
	w := bitWriter{dst: dst[at : at+words]}
	unary := dst[at+words:]
	end := uint64(0) // position of the first bit behind the unary codes written so far
	var buf [SegmentLen]uint32
	for seg := range nseg {
		dst[dir+seg] = uint32(end - uint64(seg)*SegmentLen)
		for _, v := range gaps(&buf, docs, seg) {
			w.put(v&(1<<b-1), b)
			for stop := end + uint64(v>>b); end < stop; {
				n := min(32-end%32, stop-end)
				unary[end/32] |= uint32(1<<n-1) << (end % 32)
				end += n
			}
			end++
		}
	}
	w.flush()
	return dst
}

func sizeRice(docs []uint32) int {
	n := len(docs)
	if n == 0 {
		return 0
	}
	b, ones := riceWidth(docs)
	return 2*segments(uint32(n)) + 1 + packWords(n, b) + int((ones+uint64(n)+31)/32)
}
