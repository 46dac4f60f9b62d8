package codec

import "fmt"

// Segments is a view of a ParaPFor list. Its words are Last, the last docID of each
// segment (the skip entries), then the gaps v_i = docID_i - docID_(i-1) - 1 as Packed
// values, with docID_(-1) = -1. A dense run has gaps of no bits. With base =
// Last[s-1], or -1 for s = 0, docID j of segment s is
//
//	base + (j+1) + v_0 + ... + v_j   (modulo 2^32)
//
// A view shares the memory of the words. It is safe for concurrent use while the words
// do not change.
type Segments struct {
	Len     uint32
	Last    []uint32 // one word a segment
	Dir     []uint32 // two words a segment, see Packed
	Payload []uint32
}

// Segments returns a view of a ParaPFor list. It checks that the tables fit. Each
// segment is checked when it is decoded.
func (l List) Segments() (Segments, error) {
	if l.Codec != ParaPFor {
		return Segments{}, fmt.Errorf("codec: segments of a %s list", l.Codec)
	}
	nseg := segments(l.Len)
	if len(l.Words) < nseg {
		return Segments{}, corrupt(ParaPFor, len(l.Words), "ends inside a table of %d last docIDs", nseg)
	}
	p, err := newPacked(l.Len, l.Words[nseg:], nseg)
	if err != nil {
		return Segments{}, err
	}
	return Segments{Len: l.Len, Last: l.Words[:nseg:nseg], Dir: p.Dir, Payload: p.Payload}, nil
}

// packed returns a view of the gaps.
func (s *Segments) packed() Packed {
	return Packed{Len: s.Len, Dir: s.Dir, Payload: s.Payload, first: len(s.Last)}
}

// Decode writes the docIDs of segment seg to dst and returns their number. The rest of
// dst is undefined. Without an error the docIDs ascend strictly from above Last[seg-1]
// to Last[seg].
func (s *Segments) Decode(seg int, dst *[SegmentLen]uint32) (int, error) {
	if seg < 0 || seg >= len(s.Last) {
		return 0, fmt.Errorf("codec: segment %d of %d", seg, len(s.Last))
	}
	count := segmentCount(s.Len, seg)
	p := s.packed()
	return count, s.decode(&p, seg, dst[:count])
}

// decode writes the docIDs of segment seg to dst, whose length is their count.
func (s *Segments) decode(p *Packed, seg int, dst []uint32) error {
	h, low, exc, err := p.segment(seg, len(dst))
	if err != nil {
		return err
	}
	docID := ^uint64(0)
	if seg > 0 {
		docID = uint64(s.Last[seg-1])
	}
	if h.en() == 0 {
		docID = unpackGaps(dst, low, h.b(), docID)
	} else {
		unpack(dst, low, h.b())
		if err := p.patch(seg, h, dst, exc); err != nil {
			return err
		}
		docID = unpackGaps(dst, dst, 32, docID)
	}
	// docID has 64 bits, so a docID above 2^32 differs from Last. If they agree, no
	// sum wrapped, and the docIDs ascend.
	if docID != uint64(s.Last[seg]) {
		return corrupt(ParaPFor, seg, "segment %d ends at docID %d, its gaps at %d", seg, s.Last[seg], docID)
	}
	return nil
}

// decodeAll writes all docIDs to dst, whose length is s.Len.
func (s Segments) decodeAll(dst []uint32) error {
	p := s.packed()
	for seg := range s.Last {
		n := min(len(dst), SegmentLen)
		if err := s.decode(&p, seg, dst[:n]); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

func appendParaPFor(dst, docs []uint32, opt Options) []uint32 {
	nseg := segments(uint32(len(docs)))
	last := len(dst)
	dir := last + nseg
	dst = appendZeros(dst, 3*nseg)
	payload := len(dst)
	var buf [SegmentLen]uint32
	for seg := range nseg {
		v := gaps(&buf, docs, seg)
		h := chooseWidth(v, opt)
		dst[last+seg] = docs[seg*SegmentLen+len(v)-1]
		dst[dir+2*seg], dst[dir+2*seg+1] = uint32(len(dst)-payload), uint32(h)
		dst = appendSegment(dst, v, h)
	}
	return dst
}

func sizeParaPFor(docs []uint32, opt Options) int {
	nseg := segments(uint32(len(docs)))
	words := 3 * nseg
	var buf [SegmentLen]uint32
	for seg := range nseg {
		v := gaps(&buf, docs, seg)
		h := chooseWidth(v, opt)
		words += h.lowWords(len(v)) + h.exceptionWords()
	}
	return words
}
