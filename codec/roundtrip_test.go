package codec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

func encode(tb rapid.TB, id ID, docs []uint32, opt Options) List {
	tb.Helper()
	words, err := Append(nil, id, docs, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return List{Codec: id, Len: uint32(len(docs)), Words: words}
}

// universeFor limits a Bitset to a megabyte.
func universeFor(id ID) uint64 {
	if id == Bitset {
		return 1 << 23
	}
	return codectest.Universe
}

// checkRoundTrip encodes and decodes a list after a prefix that must not change.
func checkRoundTrip(tb rapid.TB, id ID, docs []uint32, opt Options) {
	tb.Helper()
	prefix := []uint32{1, 2, 3}
	words, err := Append(slices.Clone(prefix), id, docs, opt)
	if err != nil {
		tb.Fatal(err)
	}
	if !slices.Equal(words[:3], prefix) {
		tb.Fatal("Append changed what was in dst")
	}
	l := List{Codec: id, Len: uint32(len(docs)), Words: words[3:]}
	if size := Size(id, docs, opt); size != len(l.Words) {
		tb.Fatalf("Size is %d, Append added %d words", size, len(l.Words))
	}
	if err := l.Validate(); err != nil {
		tb.Fatal(err)
	}
	got, err := l.AppendTo(slices.Clone(prefix))
	if err != nil {
		tb.Fatal(err)
	}
	if !slices.Equal(got[:3], prefix) || !slices.Equal(got[3:], docs) {
		tb.Fatalf("%d docIDs came back as others", len(docs))
	}
	if id == ParaPFor {
		checkSegments(tb, l, docs)
	}
}

// checkSegments decodes segments alone, the last segment first.
func checkSegments(tb rapid.TB, l List, docs []uint32) {
	tb.Helper()
	s, err := l.Segments()
	if err != nil {
		tb.Fatal(err)
	}
	var buf [SegmentLen]uint32
	for seg := len(s.Last) - 1; seg >= 0; seg-- {
		want := docs[seg*SegmentLen : min((seg+1)*SegmentLen, len(docs))]
		n, err := s.Decode(seg, &buf)
		if err != nil || !slices.Equal(buf[:n], want) || s.Last[seg] != want[len(want)-1] {
			tb.Fatalf("segment %d: %v", seg, err)
		}
	}
}

func TestRoundTripGenerators(t *testing.T) {
	for _, id := range ids {
		for _, g := range codectest.Generators() {
			t.Run(id.String()+"/"+g.Name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					n := rapid.IntRange(0, 2000).Draw(t, "n")
					universe := rapid.Uint64Range(0, universeFor(id)).Draw(t, "universe")
					ratio := rapid.Float64Range(0, MaxExceptionRatio).Draw(t, "ratio")
					levels := rapid.IntRange(0, MaxRPFDLevels).Draw(t, "levels")
					docs := g.List(rapid.Uint64().Draw(t, "seed"), n, universe)
					checkRoundTrip(t, id, docs, Options{ExceptionRatio: ratio, RPFDLevels: levels})
				})
			})
		}
	}
}

// Every length up to a little more than two segments, for every bit width.
func TestRoundTripWidths(t *testing.T) {
	for width := range 33 {
		for n := range 2*SegmentLen + 35 {
			rng := rand.New(rand.NewPCG(uint64(width), uint64(n)))
			var docs []uint32
			docID := int64(-1)
			for len(docs) < n {
				gap := int64(rng.Uint64N(1 << width))
				if docID+gap+1 > math.MaxUint32 {
					break
				}
				docID += gap + 1
				docs = append(docs, uint32(docID))
			}
			checkRoundTrip(t, ParaPFor, docs, Options{})
			checkRoundTrip(t, ParaPFor, docs, Options{ExceptionRatio: MaxExceptionRatio})
			for _, id := range []ID{VByte, Rice, PFD, NewPFD} {
				checkRoundTrip(t, id, docs, Options{})
			}
			checkRoundTrip(t, RPFD, docs, Options{RPFDLevels: n % (MaxRPFDLevels + 1)})
		}
	}
}

// A list may be longer than all buffers.
func TestRoundTripLong(t *testing.T) {
	for _, name := range []string{"uniform", "clustered", "outliers"} {
		for _, g := range codectest.Generators() {
			if g.Name == name {
				docs := g.List(1, 300_000, 1<<22)
				for _, id := range ids {
					checkRoundTrip(t, id, docs, DefaultOptions())
				}
			}
		}
	}
}

func TestAppendRejects(t *testing.T) {
	good := []uint32{1, 2, 3}
	for _, c := range []struct {
		name string
		id   ID
		docs []uint32
		opt  Options
		want string
	}{
		{"equal", Raw, []uint32{4, 5, 5}, Options{}, "5 behind 5 at index 2"},
		{"descending", ParaPFor, []uint32{4, 3}, Options{}, "3 behind 4 at index 1"},
		{"descending bits", Bitset, []uint32{1, 0}, Options{}, "0 behind 1 at index 1"},
		{"negative ratio", Raw, good, Options{ExceptionRatio: -0.1}, "exception ratio -0.1"},
		{"large ratio", ParaPFor, good, Options{ExceptionRatio: 0.61}, "exception ratio 0.61"},
		{"no ratio", ParaPFor, good, Options{ExceptionRatio: math.NaN()}, "exception ratio NaN"},
		{"negative levels", RPFD, good, Options{RPFDLevels: -1}, "-1 levels"},
		{"many levels", RPFD, good, Options{RPFDLevels: 5}, "5 levels"},
		{"no codec", 0, good, Options{}, "unknown codec 0"},
		{"unknown codec", 77, good, Options{}, "unknown codec 77"},
	} {
		dst := []uint32{9}
		got, err := Append(dst, c.id, c.docs, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if !slices.Equal(got, dst) {
			t.Errorf("%s: dst is %v", c.name, got)
		}
	}
	if got, err := AppendPacked([]uint32{9}, good, Options{ExceptionRatio: 1}); err == nil || len(got) != 1 {
		t.Errorf("AppendPacked takes a ratio of 1: %v, %v", got, err)
	}
	if n := Size(77, good, Options{}); n != 0 {
		t.Errorf("Size of an unknown codec is %d", n)
	}
}

// Without exceptions a segment has the width of its largest gap. With exceptions it is
// the shortest of all widths, by an oracle.
func TestLeastWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Uint32Range(0, 15), rapid.Uint32Range(0, 1000), rapid.Uint32()), 1, SegmentLen).Draw(t, "values")
		ratio := rapid.Float64Range(0, MaxExceptionRatio).Draw(t, "ratio")
		least := math.MaxInt
		for b := range 33 {
			en, index, over := 0, 0, uint32(0)
			for i, v := range values {
				if v>>b != 0 {
					en, index, over = en+1, i, over|v>>b
				}
			}
			width := len(fmt.Sprintf("%b", index))
			if index == 0 {
				width = 0
			}
			if float64(en) <= ratio*float64(len(values)) {
				words := (len(values)*b + 31) / 32
				if en > 0 {
					words += (en*(width+len(fmt.Sprintf("%b", over))) + 31) / 32
				}
				least = min(least, words)
			}
		}
		words, err := AppendPacked(nil, values, Options{ExceptionRatio: ratio})
		if err != nil || len(words) != 2+least {
			t.Fatalf("%d words, %d would do: %v", len(words), 2+least, err)
		}
	})
}
