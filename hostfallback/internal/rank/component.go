package rank

import (
	"math"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/plan"
)

// components computes term-frequency components under one Norm, with the results of
// plan.Norm.TF and without an integer division. Frequencies are less one, as lists store
// them.
type components struct {
	norm       plan.Norm
	docLengths []uint32 // length of each document, in tokens
	// common holds the components of small frequencies in documents of usual length:
	// common[l*smallFreqs + f-1] for frequency f in l tokens, 0 until its first use. Several goroutines
	// use it. nil computes each one.
	common []uint32
}

const (
	smallFreqs    = 8
	commonLengths = 4096 // 128 KiB, of which few cache lines are in use
	commonBytes   = 4 * commonLengths * smallFreqs
)

// fill sets dst to the components of postings with documents docs, which must have a
// length, and frequencies freqs.
func (c *components) fill(dst, docs, freqs []uint32) {
	for ; len(dst) > codec.SegmentLen; dst, docs, freqs = dst[codec.SegmentLen:], docs[codec.SegmentLen:], freqs[codec.SegmentLen:] {
		c.fillSegment(dst[:codec.SegmentLen], docs, freqs)
	}
	c.fillSegment(dst, docs, freqs)
}

// fillSegment is fill for at most codec.SegmentLen postings.
func (c *components) fillSegment(dst, docs, freqs []uint32) {
	freqs, docs = freqs[:len(dst)], docs[:len(dst)]
	if c.common == nil || c.norm.Impacts > 0 {
		for i, f := range freqs {
			dst[i] = c.at(docs[i], f)
		}
		return
	}
	// A branch would be mispredicted: rare frequencies and lengths, and first uses, follow in a second loop.
	common, lengths := (*[commonLengths * smallFreqs]uint32)(c.common), c.docLengths
	var rare [codec.SegmentLen]uint8
	n := 0
	for i, f := range freqs {
		length := lengths[docs[i]]
		dst[i] = atomic.LoadUint32(&common[length%commonLengths*smallFreqs+f%smallFreqs])
		rare[n%len(rare)] = uint8(i)
		n += greater(length/commonLengths|f/smallFreqs, 0) | greater(1, dst[i])
	}
	for _, i := range rare[:n] {
		dst[i] = c.in(freqs[i], lengths[docs[i]])
	}
}

// at returns the component of the posting of document doc, which must have a length, with
// frequency f.
func (c *components) at(doc, f uint32) uint32 {
	if n := c.norm.Impacts; n > 0 {
		return uint32(min((uint64(f)+1)<<((32-n)&63), math.MaxUint32))
	}
	return c.in(f, c.docLengths[doc])
}

// in returns the component of one posting without impacts.
func (c *components) in(f, length uint32) uint32 {
	at := uint64(length)*smallFreqs + uint64(f)
	if f >= smallFreqs || at >= uint64(len(c.common)) {
		return c.one(f, length)
	}
	tf := atomic.LoadUint32(&c.common[at])
	if tf == 0 { // its first use; no component is 0
		tf = c.one(f, length)
		atomic.StoreUint32(&c.common[at], tf)
	}
	return tf
}

// upperBound returns a bound of the components of a frequency in any document; f is the frequency less one. It
// spares reading the length of a document, which is seldom in a near cache.
func (c *components) upperBound(f uint32) uint32 {
	if c.norm.Impacts == 0 && f < smallFreqs && c.common != nil {
		return c.in(f, 0)
	}
	return math.MaxUint32
}

// freqAbove returns a frequency less one: no component of it or of a lower frequency exceeds above. -1 tells
// that the component of frequency 1 may exceed it.
func (c *components) freqAbove(above uint32) int64 {
	if n := c.norm.Impacts; n > 0 {
		return int64(above>>((32-n)&63)) - 1
	}
	// In an empty document, f/(f+base) > share holds for f > base*share/(1-share). The
	// share is rounded down.
	share := max(float64(above)/(1<<32)-1e-9, 0)
	f := float64(c.norm.Base) / (1 << 24) * share / (1 - share)
	return int64(min(f, math.MaxUint32)) - 1
}

// one returns the component of one posting. If the divisor has at most 32 bits, the
// result is the quotient of two integers below 2^32, rounded down. The nearest float64 is
// less than 2^-20 away: it is right, or one too large if it was rounded up to an integer.
func (c *components) one(f, length uint32) uint32 {
	a := (uint64(f) + 1) << 24
	d := a + c.norm.Of(length)
	if d > math.MaxUint32 {
		return c.norm.TF(min(f, math.MaxUint32-1)+1, length)
	}
	q := uint64(int64(float64(int64(a)) / float64(int64(d)) * (1 << 32)))
	q -= (a<<32 - q*d) >> 63
	return uint32(max(min(q, math.MaxUint32), 1))
}
