package codec

// segment returns the header and the two parts of the payload of segment seg, which
// must be in range. It checks that they are well formed and that the payload fills the
// room between its neighbours.
func (p *Packed) segment(seg, count int) (h header, low, exc []uint32, err error) {
	off := uint(p.Dir[2*seg])
	h = header(p.Dir[2*seg+1])
	end := uint(len(p.Payload))
	if 2*seg+2 < len(p.Dir) {
		end = uint(p.Dir[2*seg+2])
		// A fast path for whole segments without exceptions, which are the most.
		if h <= 32 && seg > 0 && off < end && end <= uint(len(p.Payload)) && end-off == SegmentLen/32*uint(h) {
			return h, p.Payload[off:end], nil, nil
		}
	}
	if flaw := h.flaw(count); flaw != "" {
		return h, nil, nil, p.badHeader(seg, flaw)
	}
	lw := uint(h.lowWords(count))
	if seg == 0 && off != 0 || end > uint(len(p.Payload)) || off > end || end-off != lw+uint(h.exceptionWords()) {
		return h, nil, nil, corrupt(ParaPFor, p.first+2*seg, "segment %d: payload does not fill the room to its neighbours", seg)
	}
	low, exc = p.Payload[off:off+lw], p.Payload[off+lw:end]
	switch payload := p.first + len(p.Dir); {
	case !zeroAbove(low, h.lowBits(count)):
		err = corrupt(ParaPFor, payload+int(off+lw)-1, "segment %d: bits behind the last value", seg)
	case !zeroAbove(exc, h.exceptionBits()):
		err = corrupt(ParaPFor, payload+int(end)-1, "segment %d: bits behind the last exception", seg)
	}
	return h, low, exc, err
}

func (p *Packed) badHeader(seg int, flaw string) error {
	return corrupt(ParaPFor, p.first+2*seg+1, "segment %d: header %#08x: %s", seg, p.Dir[2*seg+1], flaw)
}

// zeroAbove tells whether the bits of words from bit n on are zero. Bit n is in the
// last word or directly after it.
func zeroAbove(words []uint32, n uint) bool {
	return n%32 == 0 || words[len(words)-1]>>(n%32) == 0
}

// decode writes the values of segment seg to dst, whose length is their count.
func (p *Packed) decode(seg int, dst []uint32) error {
	h, low, exc, err := p.segment(seg, len(dst))
	if err != nil {
		return err
	}
	unpack(dst, low, h.b())
	return p.patch(seg, h, dst, exc)
}

// patch adds the overflows in exc to the values in dst.
func (p *Packed) patch(seg int, h header, dst, exc []uint32) error {
	switch bit, flaw := h.patch(dst, exc); {
	case flaw == "":
		return nil
	case bit < 0:
		return p.badHeader(seg, flaw)
	default:
		at := p.first + len(p.Dir) + int(p.Dir[2*seg]) + h.lowWords(len(dst))
		return corrupt(ParaPFor, at+bit/32, "segment %d: %s", seg, flaw)
	}
}

// appendSegment appends the payload of one segment with header h.
func appendSegment(dst, values []uint32, h header) []uint32 {
	b, ib, hb, en := h.b(), h.ib(), h.hb(), h.en()
	dst = appendLow(dst, values, b)
	if en == 0 {
		return dst
	}
	at := len(dst)
	dst = appendZeros(dst, h.exceptionWords())
	w, mask := bitWriter{dst: dst[at:]}, uint32(1<<b-1)
	var over [LineSegment]uint32 // the longest segment
	n := 0
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

// bitWriter fills dst with values of up to 32 bits, low bits first.
type bitWriter struct {
	dst  []uint32
	acc  uint64
	used uint // bits of acc, below 32 between calls
}

// put writes the low n bits of v, whose other bits must be zero.
func (w *bitWriter) put(v uint32, n uint) {
	w.acc |= uint64(v) << (w.used & 63)
	w.used += n
	if w.used >= 32 {
		w.dst[0] = uint32(w.acc)
		w.dst = w.dst[1:]
		w.acc >>= 32
		w.used -= 32
	}
}

// flush writes the last, incomplete word.
func (w *bitWriter) flush() {
	if w.used > 0 {
		w.dst[0] = uint32(w.acc)
	}
}
