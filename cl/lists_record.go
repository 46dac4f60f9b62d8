package cl

import "heddle/codec"

// record describes a list to the kernels: a term record of kernels/common.cl.
type record [recordWords]uint32

func (r *record) length() uint32  { return r[1] }
func (r *record) codec() codec.ID { return codec.ID(r[3]) }
func (r *record) buffer() uint32  { return r[3] >> 8 & 0xff }
func (r *record) probe() uint32   { return r[3] >> 16 & 0xff }
func (r *record) entries() uint32 { return r[5] }
func (r *record) with() features  { return features(r[7]) }

// move notes the present place of the list.
func (r *record) move(to place) {
	if with := r[3]&^0xff00 | to.buffer<<8; r[0] != to.off || r[3] != with {
		r[0], r[3] = to.off, with
	}
}

// records makes the term records of all lists. refs are their auxiliary tables, nil for
// none.
func (s *listSet) records(refs []auxRef) []record {
	if s.cache != nil { // places change
		s.cache.mu.Lock()
		defer s.cache.mu.Unlock()
	}
	all := make([]record, len(s.src.Lists))
	for h := range all {
		l, at := &s.src.Lists[h], s.places[h]
		r := record{at.off, l.Len, l.Words, uint32(l.Codec) | at.buffer<<8, 7: uint32(lookup(l.Codec))}
		if refs != nil {
			t := refs[h]
			r[3] |= uint32(t.probe)<<16 | uint32(t.shift)<<24
			r[4], r[5], r[6] = t.off, t.entries, t.levels
			r[7] |= uint32(t.with())
			if t.probe == probeBits {
				r[7] = 0
			}
		}
		all[h] = r
	}
	return all
}
