package gather

import (
	"encoding/binary"
	"slices"
)

// Tally counts the terms of the documents of a chunk, and writes their postings as records. A worker
// has one tally for all its chunks, which stays in the cache of a core.
//
// A record is the postings of a term, by AppendBytes twice: the term, and the varint number of
// postings, varint of the first posting as in Postings, with its docID as gap, varint of the last
// docID less the first, the further postings as in Postings. Records are sorted by the first three
// bytes of their terms.
//
// With Positions the values of each posting follow it: varints of its first position, and of the distances of
// the further ones, less one.
type Tally struct {
	Positions bool // positions are kept; Place then replaces Count. It must not change
	lexicon[counts]
	touched []uint32     // terms of the current document
	log     []occurrence // occurrences of all documents, document by document
	ends    []int        // where each document ends in log
	places  []place      // with Positions, all occurrences of all documents, in their order
	kept    int          // places of the documents before the current one

	order, spare []uint64 // terms behind their first bytes
	postings     []occurrence
	positions    []uint32 // positions, term by term
}

// place is an occurrence of a term.
type place struct{ id, position uint32 }

// counts are of one term in a chunk.
type counts struct {
	now  uint32 // occurrences in the current document
	docs uint32 // postings
	at   uint32 // scratch: place of the next posting
	all  uint32 // occurrences, with Positions
	next uint32 // scratch: place of the next position
}

// occurrence is a posting of a term, or of a document.
type occurrence struct{ id, freq uint32 }

// Group is the records of terms with the same prefix: the first three bytes, with zeros behind the end
// of shorter terms.
type Group struct {
	prefix  uint32
	end     int // end of the group in the records; it starts where the group before ends
	records int
}

// maxLog is the length of a log whose memory is kept.
const maxLog = 1 << 18

// Reset drops the content. It frees the memory of an uncommonly large document.
func (t *Tally) Reset() {
	if cap(t.log) > maxLog || cap(t.places) > 4*maxLog {
		*t = Tally{Positions: t.Positions}
	}
	t.lexicon.reset()
	t.touched, t.log, t.ends, t.places, t.kept = t.touched[:0], t.log[:0], t.ends[:0], t.places[:0], 0
}

// Count notes occurrences of a term in the current document. It returns their number before.
func (t *Tally) Count(term []byte, n uint32) (before uint32) {
	id := t.Find(term)
	c := t.Value(id)
	if before = c.now; before == 0 {
		t.touched = append(t.touched, id)
	}
	c.now += n
	return before
}

// Place notes an occurrence of a term in the current document. Positions ascend.
func (t *Tally) Place(term []byte, position uint32) {
	id := t.Find(term)
	c := t.Value(id)
	if c.now == 0 {
		t.touched = append(t.touched, id)
	}
	c.now++
	t.places = append(t.places, place{id, position})
}

// End ends the current document. Without keep its terms are forgotten, and the next document takes
// its place.
func (t *Tally) End(keep bool) {
	for _, id := range t.touched {
		c := t.Value(id)
		if keep {
			t.log = append(t.log, occurrence{id, c.now})
			c.docs++
			c.all += c.now
		}
		c.now = 0
	}
	if t.touched = t.touched[:0]; keep {
		t.ends = append(t.ends, len(t.log))
		t.kept = len(t.places)
	}
	t.places = t.places[:t.kept]
}

// Append appends the records of the chunk.
func (t *Tally) Append(records []byte, groups []Group) ([]byte, []Group) {
	t.sort()
	next := uint32(0)
	for _, o := range t.order {
		c := t.Value(uint32(o))
		c.at = next
		next += c.docs
	}
	if cap(t.postings) < len(t.log) {
		t.postings = make([]occurrence, len(t.log)*5/4)
	}
	t.postings = t.postings[:len(t.log)]
	i := 0
	for doc, end := range t.ends {
		for ; i < end; i++ {
			c := t.Value(t.log[i].id)
			t.postings[c.at] = occurrence{uint32(doc), t.log[i].freq}
			c.at++
		}
	}
	t.place()
	rest, positions := t.postings, t.positions
	for _, o := range t.order {
		e := t.at(uint32(o))
		if prefix := uint32(o >> 32); len(groups) == 0 || groups[len(groups)-1].prefix != prefix {
			groups = append(groups, Group{prefix: prefix})
		}
		records = appendSized(records, func(b []byte) []byte { return t.appendTerm(b, e) })
		var list []occurrence
		list, rest = rest[:e.value.docs], rest[e.value.docs:]
		records = appendSized(records, func(b []byte) []byte { return appendList(b, list, positions) })
		if t.Positions {
			positions = positions[e.value.all:]
		}
		g := &groups[len(groups)-1]
		g.end = len(records)
		g.records++
	}
	return records, groups
}

// place sorts the positions by terms.
func (t *Tally) place() {
	if !t.Positions {
		return
	}
	next := uint32(0)
	for _, o := range t.order {
		c := t.Value(uint32(o))
		c.next = next
		next += c.all
	}
	t.positions = slices.Grow(t.positions[:0], len(t.places))[:len(t.places)]
	for _, p := range t.places {
		c := t.Value(p.id)
		t.positions[c.next] = p.position
		c.next++
	}
}

// appendPlaces appends the values of a posting with the first positions, and returns the rest. Without positions it does nothing.
func appendPlaces(b []byte, positions []uint32, freq uint32) ([]byte, []uint32) {
	if len(positions) == 0 {
		return b, nil
	}
	next := uint32(0)
	for _, p := range positions[:freq] {
		b = binary.AppendUvarint(b, uint64(p-next))
		next = p + 1
	}
	return b, positions[freq:]
}

// appendList appends the second part of a record. It has the first of the positions.
func appendList(b []byte, list []occurrence, positions []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	first, last := list[0].id, list[len(list)-1].id
	code := uint64(first) << 1
	if list[0].freq == 1 {
		code++
	}
	b = binary.AppendUvarint(b, code)
	b = binary.AppendUvarint(b, uint64(last-first))
	if list[0].freq > 1 {
		b = binary.AppendUvarint(b, uint64(list[0].freq-2))
	}
	b, positions = appendPlaces(b, positions, list[0].freq)
	last = first
	for _, p := range list[1:] {
		b = appendPosting(b, p.id-last-1, p.freq)
		b, positions = appendPlaces(b, positions, p.freq)
		last = p.id
	}
	return b
}

// sort makes t.order the terms with postings, sorted by their prefixes.
func (t *Tally) sort() {
	t.order = t.order[:0]
	for id := range t.terms {
		if e := t.at(id); e.value.docs > 0 {
			t.order = append(t.order, e.head>>40<<32|uint64(id))
		}
	}
	if cap(t.spare) < len(t.order) {
		t.spare = make([]uint64, len(t.order)*5/4)
	}
	t.spare = t.spare[:len(t.order)]
	for shift := 32; shift < 56; shift += 8 { // a radix sort, which keeps the order of equals
		var starts [257]int
		for _, o := range t.order {
			starts[o>>shift&0xff+1]++
		}
		for i := range 256 {
			starts[i+1] += starts[i]
		}
		for _, o := range t.order {
			digit := o >> shift & 0xff
			t.spare[starts[digit]] = o
			starts[digit]++
		}
		t.order, t.spare = t.spare, t.order
	}
}
