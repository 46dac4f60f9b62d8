package hostfallback

import "heddle/hostfallback/internal/match/lookup"

// denseWords is the number of 32-bit words in a step of such a query: 16 K
// docIDs.
const denseWords = 512

// dense answers a query whose lead and first prober have bits. Lists are joined
// word by word while much is left; then docIDs are made of the bits, and go
// through the other lists as candidates do. Nothing matches outside of within.
func (w *worker) dense(j *job, probers []*lookup.Prober, t *task, within lookup.Interval) (int, error) {
	lead := w.lead.bits
	words := min(len(lead), len(probers[0].Bits))
	count := 0
	at, end := t.steps((words + denseWords - 1) / denseWords)
	at, end = max(at, int(within.First/(32*denseWords))), min(end, int(within.Last/(32*denseWords))+1)
	for ; at < end && !j.cancelled(); at++ {
		from := at * denseWords
		acc := w.acc[:(min(from+denseWords, words)-from)/2]
		n := lookup.AndBits(acc, lead[from:], probers[0].Bits[from:])
		rest := probers[1:]
		for len(rest) > 0 && n > len(acc) && len(rest[0].Bits) >= from+2*len(acc) {
			n = lookup.AndMoreBits(acc, rest[0].Bits[from:])
			rest = rest[1:]
		}
		if len(rest) == 0 && j.batch.CountOnly {
			count += n
			continue
		}
		room := w.tail(n + 3)
		n, err := w.sift(j, room[:lookup.Expand(room, acc, uint32(32*from))], rest)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// close answers a query whose lead has words and whose first prober has bits:
// one load for a word instead of one for a docID. It goes on as dense does.
func (w *worker) close(j *job, probers []*lookup.Prober, t *task, within lookup.Interval) (int, error) {
	count := 0
	lead := within.CutWords(w.lead.words)
	total := len(lead.Index)
	for at, end := t.steps((total + len(w.acc) - 1) / len(w.acc)); at < end && !j.cancelled(); at++ {
		from, to := at*len(w.acc), min((at+1)*len(w.acc), total)
		part := lookup.Words{Index: lead.Index[from:to], Bits: lead.Bits[from:to]}
		acc := w.acc[:to-from]
		n := part.And(acc, probers[0].Bits)
		rest := probers[1:]
		for len(rest) > 0 && n > len(acc) && rest[0].Bits != nil {
			n = lookup.Words{Index: part.Index, Bits: acc}.And(acc, rest[0].Bits)
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
				n += lookup.Expand(room[n:], acc[i:i+1], 64*part.Index[i])
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
