package lists

import (
	"heddle/cl/internal/device"
	"heddle/codec"
)

// Record describes a list to the kernels: a term record of kernels/common.cl.
type Record [RecordWords]uint32

func (r *Record) Length() uint32        { return r[1] }
func (r *Record) Codec() codec.ID       { return codec.ID(r[3]) }
func (r *Record) Buffer() uint32        { return r[3] >> 8 & 0xff }
func (r *Record) Probe() uint32         { return r[3] >> 16 & 0xff }
func (r *Record) Table() uint32         { return r[4] }
func (r *Record) Entries() uint32       { return r[5] }
func (r *Record) With() device.Features { return device.Features(r[7]) }

// Unpacked describes the list after it was decoded to a place in the buffer of decoded lists. Its
// table stays: it counts docIDs.
func (r *Record) Unpacked(to uint32) Record {
	u := Record{to, r[1], r[1], uint32(codec.Raw) | UnpackedArena<<8 | r[3]&^0xffff, r[4], r[5], r[6], 0}
	if r.Probe() == ProbeOwn { // a table of the codec
		u[3] &= 0xffff
	}
	return u
}

// move notes the present place of the list.
func (r *Record) move(to Place) {
	if with := r[3]&^0xff00 | to.Buffer<<8; r[0] != to.Off || r[3] != with {
		r[0], r[3] = to.Off, with
	}
}

// Records makes the term records of all lists. refs are their auxiliary tables, nil for
// none.
func (s *Set) Records(refs []tableRef) []Record {
	if s.Cache != nil { // places change
		s.Cache.mu.Lock()
		defer s.Cache.mu.Unlock()
	}
	all := make([]Record, len(s.Src.Lists))
	for h := range all {
		l, at := &s.Src.Lists[h], s.Places[h]
		r := Record{at.Off, l.Len, l.Words, uint32(l.Codec) | at.Buffer<<8, 7: uint32(Lookup(l.Codec))}
		if refs != nil {
			t := refs[h]
			r[3] |= uint32(t.probe)<<16 | uint32(t.shift)<<24
			r[4], r[5], r[6] = t.off, t.entries, t.levels
			r[7] |= uint32(t.with())
			if t.probe == ProbeBits {
				r[7] = 0
			}
		}
		all[h] = r
	}
	return all
}
