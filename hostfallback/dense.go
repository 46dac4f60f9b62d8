package hostfallback

import "math/bits"

// denseLead is the density, as 1/denseLead, from which on two lists with bits
// meet word by word: that takes less time then than looking up each candidate.
const denseLead = 16

// denseWords is the number of 32-bit words in a step of such a query: 16 K
// docIDs.
const denseWords = 512

// dense answers a query whose lead and first prober have bits. Lists are joined
// word by word while much is left; then docIDs are made of the bits, and go
// through the other lists as candidates do. Nothing matches outside of within.
func (w *worker) dense(j *job, probers []*prober, t *task, within stretch) (int, error) {
	lead := w.lead.bits
	words := min(len(lead), len(probers[0].bits))
	count := 0
	at, end := t.steps((words + denseWords - 1) / denseWords)
	at, end = max(at, int(within.first/(32*denseWords))), min(end, int(within.last/(32*denseWords))+1)
	for ; at < end && !j.cancelled(); at++ {
		from := at * denseWords
		acc := w.acc[:(min(from+denseWords, words)-from)/2]
		n := and(acc, lead[from:], probers[0].bits[from:])
		rest := probers[1:]
		for len(rest) > 0 && n > len(acc) && len(rest[0].bits) >= from+2*len(acc) {
			n = andMore(acc, rest[0].bits[from:])
			rest = rest[1:]
		}
		if len(rest) == 0 && j.batch.CountOnly {
			count += n
			continue
		}
		room := w.tail(n + 3)
		n, err := w.sift(j, room[:expand(room, acc, uint32(32*from))], rest)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// close answers a query whose lead has words and whose first prober has bits:
// one load for a word instead of one for a docID. It goes on as dense does.
func (w *worker) close(j *job, probers []*prober, t *task, within stretch) (int, error) {
	count := 0
	lead := within.cutWords(w.lead.words)
	total := len(lead.index)
	for at, end := t.steps((total + len(w.acc) - 1) / len(w.acc)); at < end && !j.cancelled(); at++ {
		from, to := at*len(w.acc), min((at+1)*len(w.acc), total)
		part := words{lead.index[from:to], lead.bits[from:to]}
		acc := w.acc[:to-from]
		n := part.and(acc, probers[0].bits)
		rest := probers[1:]
		for len(rest) > 0 && n > len(acc) && rest[0].bits != nil {
			n = words{part.index, acc}.and(acc, rest[0].bits)
			rest = rest[1:]
		}
		if len(rest) == 0 && j.batch.CountOnly {
			count += n
			continue
		}
		room := w.tail(n + 3)
		n = 0
		for i, x := range acc {
			if x != 0 {
				n += expand(room[n:], acc[i:i+1], 64*part.index[i])
			}
		}
		n, err := w.sift(j, room[:n], rest)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// join sets dst to the words of a, joined in pairs.
func join(dst []uint64, a []uint32) {
	a = a[:2*len(dst)]
	for i := range dst {
		dst[i] = uint64(a[2*i]) | uint64(a[2*i+1])<<32
	}
}

// and sets dst to a AND b, joined in pairs, and returns the number of bits set.
func and(dst []uint64, a, b []uint32) (n int) {
	a, b = a[:2*len(dst)], b[:2*len(dst)]
	for i := range dst {
		x := uint64(a[2*i]) | uint64(a[2*i+1])<<32
		x &= uint64(b[2*i]) | uint64(b[2*i+1])<<32
		dst[i] = x
		n += bits.OnesCount64(x)
	}
	return n
}

// andMore sets dst to dst AND a and returns the number of bits set.
func andMore(dst []uint64, a []uint32) (n int) {
	a = a[:2*len(dst)]
	for i := range dst {
		x := dst[i] & (uint64(a[2*i]) | uint64(a[2*i+1])<<32)
		dst[i] = x
		n += bits.OnesCount64(x)
	}
	return n
}

// expand writes the docIDs of the bits set in words, the first of which is docID
// base, to dst and returns how many there are. It writes four at a time: dst has
// room for three more.
func expand(dst []uint32, words []uint64, base uint32) int {
	n := 0
	for _, x := range words {
		if x == ^uint64(0) { // in a run
			d := (*[64]uint32)(dst[n:])
			for i := 0; i < len(d); i += 4 {
				x := base + uint32(i)
				d[i], d[i+1], d[i+2], d[i+3] = x, x+1, x+2, x+3
			}
			n += 64
			base += 64
			continue
		}
		for left := bits.OnesCount64(x); left > 0; left -= 4 {
			d := dst[n : n+4 : n+4]
			d[0] = base + uint32(bits.TrailingZeros64(x))
			x &= x - 1
			d[1] = base + uint32(bits.TrailingZeros64(x))
			x &= x - 1
			d[2] = base + uint32(bits.TrailingZeros64(x))
			x &= x - 1
			d[3] = base + uint32(bits.TrailingZeros64(x))
			x &= x - 1
			n += min(left, 4)
		}
		base += 64
	}
	return n
}
