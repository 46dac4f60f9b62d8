package match

import (
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// denseWords is the number of 32-bit words in one step of byBits: 16,384 docIDs.
const denseWords = 512

// sparseBits is a mean number of bits set in a 64-bit word. Below it many words are zero, and a branch for them
// would be mispredicted.
const sparseBits = 8

// byBits answers a conjunction whose driving list and first prober have bits. It joins lists
// word by word while many bits are left. The remaining bits become docIDs, the candidates
// of the remaining lists. No docID outside of interval within matches.
func (w *worker) byBits(j *batch, probers []*lookup.Prober, t *task, within docset.Interval) (int, error) {
	driving := w.driving.bits
	words := min(len(driving), len(probers[0].Bits))
	count := 0
	at, end := t.steps((words + denseWords - 1) / denseWords)
	at, end = max(at, int(within.First/(32*denseWords))), min(end, int(within.Last/(32*denseWords))+1)
	for ; at < end; at++ {
		if err := j.ended(); err != nil {
			return 0, err
		}
		from := at * denseWords
		acc := w.accWords[:(min(from+denseWords, words)-from)/2]
		n := docset.AndBits(acc, driving[from:], probers[0].Bits[from:])
		rest := probers[1:]
		for len(rest) > 0 && n > len(acc) && len(rest[0].Bits) >= from+2*len(acc) {
			n = docset.AndMoreBits(acc, rest[0].Bits[from:])
			rest = rest[1:]
		}
		if len(rest) == 0 && j.queries.CountOnly {
			count += n
			continue
		}
		room := w.tail(n + docset.Slack)
		if n < sparseBits*len(acc) {
			n = docset.NonZero(w.words(), acc, uint32(from/2)).Expand(room)
		} else {
			n = docset.Expand(room, acc, uint32(32*from))
		}
		n, err := w.sift(j, room[:n], rest)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// byWords answers a conjunction whose driving list has docset.Words and whose first prober has bits,
// with one load for each word instead of one for each docID. It continues like byBits.
func (w *worker) byWords(j *batch, probers []*lookup.Prober, t *task, within docset.Interval) (int, error) {
	count := 0
	driving := within.CutWords(w.driving.words)
	total := len(driving.Index)
	for at, end := t.steps((total + len(w.accWords) - 1) / len(w.accWords)); at < end; at++ {
		if err := j.ended(); err != nil {
			return 0, err
		}
		from, to := at*len(w.accWords), min((at+1)*len(w.accWords), total)
		part := docset.Words{Index: driving.Index[from:to], Bits: driving.Bits[from:to]}
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
		room := w.tail(n + docset.Slack)
		n, err := w.sift(j, room[:part.Expand(room)], rest)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// words returns memory for the words of one step.
func (w *worker) words() docset.Words {
	return docset.Words{Index: w.accIndex[:], Bits: w.accWords[:]}
}
