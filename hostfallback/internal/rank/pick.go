package rank

import "heddle/codec"

// pick is add for a range with one list in lead. It scores only documents that exceed
// least.
func (w *worker) pick(l *reader, r run, mask uint16, least uint32) error {
	if l.tfs == nil {
		return w.pickPacked(l, r, mask, least)
	}
	docs, tfs := l.docs[l.at:l.end], l.tfs[l.at:l.end] // the only run is the range
	// A contribution exceeds least if tf*weight > least<<32.
	found := w.exceed(tfs, int64(uint64(least)<<32/uint64(l.weight))) // least is below the weight
	for j, i := range found {
		d := uint16(docs[i]) & mask
		w.scores[d] = contribution(uint64(l.weight), tfs[i])
		found[j] = d
	}
	w.noted = w.noted[:len(w.noted)+len(found)]
	return nil
}

// pickPacked is pick without components. It notes the documents whose frequency exceeds least in the shortest
// document. Their scores are their frequencies, until rate.
func (w *worker) pickPacked(l *reader, r run, mask uint16, least uint32) error {
	if err := l.seek(r.first); err != nil {
		return err
	}
	above := l.components.freqAbove(uint32(uint64(least) << 32 / uint64(l.weight)))
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
		w.noted = w.noted[:len(w.noted)+len(found)]
		if more = again; more {
			if err := l.decode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// rate turns the frequencies of the noted documents, from document from on, into scores, and drops the documents
// that do not exceed least. Many lengths are read side by side: they are seldom in a near cache.
func (w *worker) rate(l *reader, from, least uint32) {
	var docs, freqs, tfs [codec.SegmentLen]uint32
	n := 0
	for at := 0; at < len(w.noted); at += len(docs) {
		noted := w.noted[at:min(at+len(docs), len(w.noted))]
		for i, d := range noted {
			docs[i], freqs[i] = from+uint32(d), w.scores[d]
		}
		l.components.of(tfs[:len(noted)], docs[:], freqs[:])
		for i, d := range noted {
			sum := contribution(uint64(l.weight), tfs[i])
			ok := more(sum, least)
			w.scores[d] = sum & -uint32(ok)
			w.noted[n] = d
			n += ok
		}
	}
	w.noted = w.noted[:n]
}

// exceed returns the indexes of the values above a bound, in the memory behind w.noted. A
// branch would be mispredicted.
func (w *worker) exceed(values []uint32, above int64) []uint16 {
	noted, n := w.noted[len(w.noted):][:len(values)], 0
	for i, v := range values {
		noted[n] = uint16(i)
		n += int(uint64(above-int64(v)) >> 63)
	}
	return noted[:n]
}
