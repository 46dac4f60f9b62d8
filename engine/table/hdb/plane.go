package hdb

import (
	"math"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/plan"
)

// pieceLen is the number of values that are packed at a time: whole segments.
const pieceLen = 64 * codec.SegmentLen

// plane packs 32 bits of the codes of a column, in pieces. A packed list has a directory
// in front of its payload, so both grow in temporary files until the last piece is there.
type plane struct {
	dir, payload *container.Spool
	values       []uint32 // not yet packed
	words        []uint32 // a packed piece
}

func newPlane(w *container.Writer, name string) *plane {
	return &plane{dir: w.Temp(name + "-directory"), payload: w.Temp(name + "-payload")}
}

// add takes the 32 bits of codes from bit shift on.
func (p *plane) add(codes []uint64, shift uint) error {
	for len(codes) > 0 {
		n := min(len(codes), pieceLen-len(p.values))
		for _, c := range codes[:n] {
			p.values = append(p.values, uint32(c>>shift))
		}
		codes = codes[n:]
		if len(p.values) == pieceLen {
			if err := p.pack(); err != nil {
				return err
			}
		}
	}
	return nil
}

// pack writes the pending codes. Only the last piece may end within a segment.
func (p *plane) pack() (err error) {
	if p.words, err = codec.AppendPacked(p.words[:0], p.values, codec.DefaultOptions()); err != nil {
		return err
	}
	dir := 2 * ((len(p.values) + codec.SegmentLen - 1) / codec.SegmentLen)
	before := p.payload.Length() / 4
	for i := 0; i < dir; i += 2 {
		off := before + uint64(p.words[i])
		if off > math.MaxUint32 {
			return inputError("packed codes of more than 2^32 words")
		}
		p.words[i] = uint32(off)
	}
	p.values = p.values[:0]
	if err := p.dir.Append(container.LittleBytes(p.words[:dir])); err != nil {
		return err
	}
	return p.payload.Append(container.LittleBytes(p.words[dir:]))
}

// writeTo appends the packed list to a section with padding, returns its place there and
// makes room for the list of another column.
func (p *plane) writeTo(out *container.Spool) (s plan.Span, err error) {
	if err := p.pack(); err != nil {
		return s, err
	}
	s.Off = out.Length() / 4
	for _, part := range []*container.Spool{p.dir, p.payload} {
		if err := out.AppendSpool(part); err != nil {
			return s, err
		}
		if err := part.Rewind(); err != nil {
			return s, err
		}
	}
	s.Words = out.Length()/4 - s.Off
	return s, out.Pad(4 * plan.ListAlign)
}
