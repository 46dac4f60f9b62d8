package export

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"heddle/engine/index/build/inverted"
	"heddle/engine/plan"
)

// ciff writes a Header, the PostingsLists and the DocRecords, each behind its length.
func (x *exporter) ciff() error {
	m := x.f.Meta()
	if err := checkInt32(uint64(m.Docs), "the number of documents"); err != nil {
		return err
	}
	if err := checkInt32(uint64(m.Terms), "the number of terms"); err != nil {
		return err
	}
	var b []byte
	for i, n := range []uint64{1, uint64(m.Terms), uint64(m.Docs), uint64(m.Terms), uint64(m.Docs), m.Tokens} {
		b = appendNumber(b, protowire.Number(i+1), n)
	}
	b = protowire.AppendFixed64(protowire.AppendTag(b, 7, protowire.Fixed64Type), math.Float64bits(float64(m.Length)/float64(max(m.WithTerms, 1))))
	description := "index of heddle"
	if m.Impacts.Bits > 0 {
		description = inverted.CIFFImpacts
	}
	b = appendBytes(b, 8, description)
	if err := x.message(b); err != nil {
		return err
	}
	if err := x.eachList(x.ciffList); err != nil {
		return err
	}
	for d, name := range x.f.Names(0) {
		if d%4096 == 0 && x.ctx.Err() != nil {
			return x.ctx.Err()
		}
		length := uint64(x.f.DocLen(d))
		if err := checkInt32(length, fmt.Sprintf("the length of document %d", d)); err != nil {
			return err
		}
		b = appendNumber(appendBytes(appendNumber(b[:0], 1, uint64(d)), 2, name), 3, length)
		if err := x.message(b); err != nil {
			return err
		}
	}
	return nil
}

// ciffList writes the current list.
func (x *exporter) ciffList(h plan.Handle) error {
	term, err := x.term(h)
	if err != nil {
		return err
	}
	tokens := uint64(0)
	for _, n := range x.freqs {
		tokens += uint64(n)
	}
	b := appendBytes(x.scratch[:0], 1, term)
	b = appendNumber(appendNumber(b, 2, uint64(len(x.docs))), 3, tokens)
	last := uint32(0)
	for i, d := range x.docs {
		gap, freq := uint64(d-last), uint64(x.freqs[i])
		if err := checkInt32(freq, fmt.Sprintf("a frequency of %q", term)); err != nil {
			return err
		}
		size := 1 + protowire.SizeVarint(freq)
		if gap > 0 {
			size += 1 + protowire.SizeVarint(gap)
		}
		b = protowire.AppendVarint(protowire.AppendTag(b, 4, protowire.BytesType), uint64(size))
		b = appendNumber(appendNumber(b, 1, gap), 2, freq)
		last = d
	}
	x.scratch = b
	return x.message(b)
}

// message writes the length of a message, and the message.
func (x *exporter) message(b []byte) error {
	var length [binary.MaxVarintLen64]byte
	if _, err := x.out[0].Write(binary.AppendUvarint(length[:0], uint64(len(b)))); err != nil {
		return err
	}
	_, err := x.out[0].Write(b)
	return err
}

// appendNumber appends a field, unless it is 0.
func appendNumber(b []byte, field protowire.Number, n uint64) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func appendBytes(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}
