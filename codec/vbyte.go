package codec

import "math/bits"

// VByte is the baseline of byte codes. The words are the last docIDs of segments, the
// offsets of their payloads in words from the start of all payloads, and the payloads,
// contiguous and in order. A payload is a sequence of values of one to five bytes. A
// byte has seven bits of the value, the low bits first, and bit 7 set if the next byte
// belongs to the same value. Byte k is at bit 8*(k%4) of word k/4. Zeros fill the last
// word.

// vbyteStops has bit 7 of the next five bytes.
const vbyteStops = 0x80_80_80_80_80

// decodeVByte writes the docIDs of segment seg to dst, whose length is their count.
func decodeVByte(dst []uint32, t *gapTables, seg int) error {
	words, err := t.room(VByte, seg)
	if err != nil {
		return err
	}
	docID := t.base(seg)
	var next uint64 // the next bytes, low bytes first, then zeros
	have := 0       // bits of next
	for j := 0; j < len(dst); {
		for have <= 32 && len(words) > 0 {
			next |= uint64(words[0]) << have
			words = words[1:]
			have += 32
		}
		if next&0x80_80_80_80 == 0 && have >= 32 && len(dst)-j >= 4 {
			four := dst[j : j+4 : j+4]
			for i := range four {
				docID += next&0x7f + 1
				four[i] = uint32(docID)
				next >>= 8
			}
			have -= 32
			j += 4
			continue
		}
		// One byte or two bytes, without an unpredictable branch.
		two := next >> 7 & 1
		n := 8 + 8*int(two)
		v := next&0x7f | next>>1&(0x7f<<7)&-two
		if next&0x80_80 == 0x80_80 {
			n = bits.TrailingZeros64(^next&vbyteStops) + 1
			w := next & (1<<(n&63) - 1)
			v = w&0x7f | w>>1&(0x7f<<7) | w>>2&(0x7f<<14) | w>>3&(0x7f<<21) | w>>4&(0x7f<<28)
		}
		if n > have || v > 1<<32-1 {
			return corrupt(VByte, t.at(seg), "segment %d: value %d has no end or more than 32 bits", seg, j)
		}
		docID += v + 1
		dst[j] = uint32(docID)
		next >>= n & 63
		have -= n
		j++
	}
	if next != 0 || have >= 32 || len(words) > 0 {
		return corrupt(VByte, t.at(seg), "segment %d: bytes behind the last value", seg)
	}
	return t.checkEnd(VByte, seg, docID)
}

// vbyteLen returns the number of bytes of v.
func vbyteLen(v uint32) int { return max(bits.Len32(v)+6, 7) / 7 }

// vbyteWords returns the number of words that the payload of values takes.
func vbyteWords(values []uint32) int {
	n := 0
	for _, v := range values {
		n += vbyteLen(v)
	}
	return (n + 3) / 4
}

func appendVByte(dst, docs []uint32) []uint32 {
	nseg := segments(uint32(len(docs)))
	dst = appendLast(dst, docs)
	dir := len(dst)
	dst = appendZeros(dst, nseg)
	payload := len(dst)
	var buf [SegmentLen]uint32
	for seg := range nseg {
		values := gaps(&buf, docs, seg)
		at := len(dst)
		dst[dir+seg] = uint32(at - payload)
		dst = appendZeros(dst, vbyteWords(values))
		w := bitWriter{dst: dst[at:]}
		for _, v := range values {
			for ; v >= 0x80; v >>= 7 {
				w.put(v&0x7f|0x80, 8)
			}
			w.put(v, 8)
		}
		w.flush()
	}
	return dst
}

func sizeVByte(docs []uint32) int {
	nseg := segments(uint32(len(docs)))
	words := 2 * nseg
	var buf [SegmentLen]uint32
	for seg := range nseg {
		words += vbyteWords(gaps(&buf, docs, seg))
	}
	return words
}
