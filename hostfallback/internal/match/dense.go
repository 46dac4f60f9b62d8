package match

import "heddle/hostfallback/internal/match/lookup"

// denseWords is the number of 32-bit words in one step of byBits: 16 K docIDs.
const denseWords = 512

// sparseBits is the mean number of bits in a word below which many words are zero, so that a branch for them
// is mispredicted.
const sparseBits = 8

// byBits answers a conjunction whose lead and first prober have bits. Lists are joined
// word by word while many bits are left. The remaining bits become docIDs, the candidates
// of the remaining lists. No docID outside within matches.
func (w *worker) byBits(j *batch, probers []*lookup.Prober, t *task, within lookup.Interval) (int, error) {
	lead := w.lead.bits
	words := min(len(lead), len(probers[0].Bits))
	count := 0
	at, end := t.steps((words + denseWords - 1) / denseWords)
	at, end = max(at, int(within.First/(32*denseWords))), min(end, int(within.Last/(32*denseWords))+1)
	for ; at < end; at++ {
		if err := j.ended(); err != nil {
			return 0, err
		}
		from := at * denseWords
		acc := w.acc[:(min(from+denseWords, words)-from)/2]
		n := lookup.AndBits(acc, lead[from:], probers[0].Bits[from:])
		rest := probers[1:]
		for len(rest) > 0 && n > len(acc) && len(rest[0].Bits) >= from+2*len(acc) {
			n = lookup.AndMoreBits(acc, rest[0].Bits[from:])
			rest = rest[1:]
		}
		if len(rest) == 0 && j.queries.CountOnly {
			count += n
			continue
		}
		room := w.tail(n + lookup.Slack)
		if n < sparseBits*len(acc) {
			n = lookup.NonZero(w.words(), acc, uint32(from/2)).Expand(room)
		} else {
			n = lookup.Expand(room, acc, uint32(32*from))
		}
		n, err := w.sift(j, room[:n], rest)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// byWords answers a conjunction whose lead has words and whose first prober has bits, with
// one load for each word instead of each docID. It continues like byBits.
func (w *worker) byWords(j *batch, probers []*lookup.Prober, t *task, within lookup.Interval) (int, error) {
	count := 0
	lead := within.CutWords(w.lead.words)
	total := len(lead.Index)
	for at, end := t.steps((total + len(w.acc) - 1) / len(w.acc)); at < end; at++ {
		if err := j.ended(); err != nil {
			return 0, err
		}
		from, to := at*len(w.acc), min((at+1)*len(w.acc), total)
		part := lookup.Words{Index: lead.Index[from:to], Bits: lead.Bits[from:to]}
		if len(probers) == 1 && j.queries.CountOnly {
			count += part.CountAnd(probers[0].Bits)
			continue
		}
		part, n := part.And(w.words(), probers[0].Bits)
		rest := probers[1:]
		for len(rest) > 0 && n > len(part.Index) && rest[0].Bits != nil {
			part, n = part.And(w.words(), rest[0].Bits)
			rest = rest[1:]
		}
		if len(rest) == 0 && j.queries.CountOnly {
			count += n
			continue
		}
		room := w.tail(n + lookup.Slack)
		n, err := w.sift(j, room[:part.Expand(room)], rest)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// words returns memory for the words of one step.
func (w *worker) words() lookup.Words {
	return lookup.Words{Index: w.index[:], Bits: w.acc[:]}
}
