package codec

import (
	"testing"

	"heddle/codec/codectest"
)

// Decoding, validating and probing do not allocate if dst has room.
func TestNoAllocations(t *testing.T) {
	var docs []uint32
	for _, g := range codectest.Generators() {
		if g.Name == "outliers" {
			docs = g.List(1, 1000, 1<<18)
		}
	}
	none := func(name string, f func()) {
		t.Helper()
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	dst := make([]uint32, 0, 20*len(docs))
	for _, id := range ids {
		l := encode(t, id, docs, DefaultOptions())
		none(id.String()+" AppendTo", func() { _, err := l.AppendTo(dst); must(err) })
		none(id.String()+" Validate", func() { must(l.Validate()) })
		none(id.String()+" Blocks", func() {
			var b Blocks
			must(b.Open(l))
			_, err := b.Decode(dst, b.Find(docs[500]))
			must(err)
		})
		if id == RPFD { // the encoder holds gaps and exceptions
			continue
		}
		none(id.String()+" Append", func() { _, err := Append(dst, id, docs, DefaultOptions()); must(err) })
		none(id.String()+" Size", func() { Size(id, docs, DefaultOptions()) })
	}
	none("Segments", func() {
		var buf [SegmentLen]uint32
		l := List{ParaPFor, uint32(len(docs)), nil}
		l.Words, _ = Append(dst, ParaPFor, docs, DefaultOptions())
		s, err := l.Segments()
		must(err)
		_, err = s.Decode(2, &buf)
		must(err)
	})
	none("Packed", func() {
		var buf [SegmentLen]uint32
		words, err := AppendPacked(dst, docs, DefaultOptions())
		must(err)
		p, err := NewPacked(uint32(len(docs)), words)
		must(err)
		_, err = p.Decode(3, &buf)
		must(err)
		_, err = p.At(500)
		must(err)
		_, err = p.AppendTo(words)
		must(err)
	})
	bitset := encode(t, Bitset, docs, DefaultOptions())
	none("Bits", func() {
		b, err := bitset.Bits()
		must(err)
		if !b.Has(docs[3]) || b.Rank(docs[3]) != 3 || b.Select(3) != docs[3] {
			t.Error("wrong answer")
		}
	})
	line := FitLine(docs)
	none("Range", func() { line.Range(docs[5], uint32(len(docs))) })
	none("AppendBuckets", func() { AppendBuckets(dst, docs, BucketShift(uint32(len(docs)), 1<<18, 16)) })
}
