package hdl

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"heddle/engine/file/container/containertest"
	"heddle/engine/index/analyze"
)

// rounded is an index with rounded lengths.
func rounded() *sample {
	s := tiny()
	s.meta.Lengths, s.meta.Analysis = LengthsLucene, analyze.Settings{Fold: true}
	for i := range s.lens {
		s.lens[i] = uint32(37 + i)
	}
	return s
}

// TestRoundedLengths stores lengths as Lucene does, and their exact sum.
func TestRoundedLengths(t *testing.T) {
	f := mustOpen(t, rounded().build(t))
	m := f.Meta()
	if m.Lengths != LengthsLucene || !m.Analysis.Fold || m.Length != 24*37+23*24/2 {
		t.Errorf("%+v", m)
	}
	for d, want := range map[uint32]uint32{0: 37, 2: 39, 3: 40, 4: 40, 5: 42, 23: 60} {
		if got := f.DocLen(d); got != want {
			t.Errorf("length %d is %d, want %d", d, got, want)
		}
	}
	if err := f.Verify(context.Background()); err != nil {
		t.Error(err)
	}
	s := rounded() // whose lengths come from Lucene, rounded
	s.add("zzz", []uint32{0, 23})
	s.freqs[len(s.freqs)-1] = []uint32{2000, 1}
	f = mustOpen(t, s.build(t))
	if m := f.Meta(); m.Length != m.Tokens || m.Tokens < 2001 || f.Source().Length != m.Length {
		t.Errorf("%+v", m)
	}
	if err := f.Verify(context.Background()); err != nil {
		t.Error(err)
	}
	data := rounded().image(t)
	at := binary.LittleEndian.Uint64(entry(data, secLengths)[8:])
	width := uint64(data[at+8] & 63)              // behind the number of words and an offset
	data[at+12+4*width/8] ^= 1 << (4 * width % 8) // the lowest bit of length 4
	repairBlocks(data)
	f, err := fromBytes("x", data, true)
	if err != nil {
		t.Fatal(err)
	}
	c := containertest.WantCorrupt(t, f.Verify(context.Background()), "x")
	if got := c.Section + ": " + c.Reason; got != "lengths: length 41 of document 4 is not rounded" {
		t.Error(got)
	}
	data = rounded().image(t) // a sum of the exact lengths below the sum of the rounded ones
	put64(data, 48, 7)
	put64(data, int(binary.LittleEndian.Uint64(entry(data, secFields)[8:]))+16, 7)
	repairBlocks(data)
	if f, err = fromBytes("x", data, true); err != nil {
		t.Fatal(err)
	}
	if c := containertest.WantCorrupt(t, f.Verify(context.Background()), "x"); !strings.HasPrefix(c.Reason, "the lengths add up to ") {
		t.Error(c)
	}
	s = tiny()
	s.meta.Lengths = "short"
	if _, err := Create(t.TempDir()+"/x", s.meta); err == nil || !strings.Contains(err.Error(), `lengths are "short"`) {
		t.Errorf("error %v", err)
	}
}

// TestLengthChunks has documents at the ends of the chunks in which lengths are packed.
func TestLengthChunks(t *testing.T) {
	for _, docs := range []int{1, lengthChunk - 1, lengthChunk, lengthChunk + 1, 2*lengthChunk + 3} {
		s := &sample{meta: Meta{Docs: uint32(docs)}, names: make([]string, docs), lens: make([]uint32, docs)}
		for i := range s.lens {
			s.lens[i] = uint32(i * i)
		}
		f := mustOpen(t, s.build(t))
		s.check(t, f)
		if err := f.Verify(context.Background()); err != nil {
			t.Errorf("%d documents: %v", docs, err)
		}
	}
}

// TestVerifyAnalysis: an index whose terms come from an unknown analysis is refused.
func TestVerifyAnalysis(t *testing.T) {
	for want, set := range map[string]analyze.Settings{
		`unknown stemmer "klingon"`: {Stemmer: "klingon"}, `unknown tokens "letters"`: {Tokens: "letters"}, "stay as they are": {Tokens: analyze.TokensSpaces, Fold: true},
	} {
		s := tiny()
		s.meta.Analysis = set
		f := mustOpen(t, s.build(t))
		if c := containertest.WantCorrupt(t, f.Verify(context.Background()), f.Path()); !strings.Contains(c.Reason, want) || c.Section != secMeta.String() {
			t.Errorf("%+v: error %v, want %s", set, c, want)
		}
	}
}
