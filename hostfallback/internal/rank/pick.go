package rank

import "heddle/codec"

// pick is add for a range with one essential list. It scores only documents that exceed
// threshold.
func (w *worker) pick(l *reader, r run, mask uint16, threshold uint32) error {
	if l.tfs == nil {
		return w.pickPacked(l, r, mask, threshold)
	}
	docs, tfs := l.docs[l.at:l.rangeEnd], l.tfs[l.at:l.rangeEnd] // the only run is the range
	// A contribution exceeds the threshold if tf*weight > threshold<<32.
	found := w.exceed(tfs, int64(uint64(threshold)<<32/uint64(l.weight))) // the threshold is below the weight
	for j, i := range found {
		d := uint16(docs[i]) & mask
		w.scores[d] = contribution(uint64(l.weight), tfs[i])
		found[j] = d
	}
	w.candidates = w.candidates[:len(w.candidates)+len(found)]
	return nil
}

// pickPacked is pick for a list without stored components. A document becomes a candidate if its frequency
// would exceed threshold in the shortest document. Until rate, w.scores holds frequencies instead of scores.
func (w *worker) pickPacked(l *reader, r run, mask uint16, threshold uint32) error {
	if err := l.seek(r.first); err != nil {
		return err
	}
	above := l.components.freqAbove(uint32(uint64(threshold) << 32 / uint64(l.weight)))
	for more := true; more; {
		docs, freqs, again, err := l.takeFreqs(r.last)
		if err != nil {
			return err
		}
		found := w.exceed(freqs, above)
		for j, i := range found {
			d := uint16(docs[i]) & mask
			w.scores[d] = freqs[i]
			found[j] = d
		}
		w.candidates = w.candidates[:len(w.candidates)+len(found)]
		if more = again; more {
			if err := l.decode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// rate turns the frequencies of the candidates into scores, and drops the candidates whose score does not exceed
// threshold. from is the first document of the range. Many document lengths are read side by side: they are seldom
// in a near cache.
func (w *worker) rate(l *reader, from, threshold uint32) {
	var docs, freqs, tfs [codec.SegmentLen]uint32
	n := 0
	for at := 0; at < len(w.candidates); at += len(docs) {
		group := w.candidates[at:min(at+len(docs), len(w.candidates))]
		for i, d := range group {
			docs[i], freqs[i] = from+uint32(d), w.scores[d]
		}
		l.components.fill(tfs[:len(group)], docs[:], freqs[:])
		for i, d := range group {
			sum := contribution(uint64(l.weight), tfs[i])
			ok := greater(sum, threshold)
			w.scores[d] = sum & -uint32(ok)
			w.candidates[n] = d
			n += ok
		}
	}
	w.candidates = w.candidates[:n]
}

// exceed returns the indexes of the values that are greater than above, in the memory behind w.candidates. A
// branch would be mispredicted.
func (w *worker) exceed(values []uint32, above int64) []uint16 {
	found, n := w.candidates[len(w.candidates):][:len(values)], 0
	for i, v := range values {
		found[n] = uint16(i)
		n += int(uint64(above-int64(v)) >> 63)
	}
	return found[:n]
}
