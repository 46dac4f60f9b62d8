package codec

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

// checkTotal checks, for any words, that decoders return the typed error or a list that
// keeps the rules, without a panic, and that all decoders agree. It tells whether the
// words are valid.
func checkTotal(tb rapid.TB, l List) bool {
	tb.Helper()
	got, err := l.AppendTo([]uint32{7})
	invalid := l.Validate()
	if (err == nil) != (invalid == nil) {
		tb.Fatalf("AppendTo: %v; Validate: %v", err, invalid)
	}
	if err != nil {
		checkCorrupt(tb, err, len(l.Words))
		if !slices.Equal(got, []uint32{7}) {
			tb.Fatalf("AppendTo changed dst and failed: %v", err)
		}
	} else if docs := got[1:]; uint64(len(docs)) != uint64(l.Len) || disorder(docs) != 0 {
		tb.Fatalf("%v: %d docIDs for a length of %d, disorder at %d", l.Codec, len(docs), l.Len, disorder(docs))
	}
	checkTotalBlocks(tb, l, err == nil)
	switch l.Codec {
	case ParaPFor:
		checkTotalSegments(tb, l, err == nil)
	case Bitset:
		checkTotalBits(l)
	case LRC, LRCPFor, LRCSeg, SegLRC, HSLRC128, HSLRC256:
		checkTotalLines(tb, l, got[1:], err == nil)
	}
	return err == nil
}

func checkCorrupt(tb rapid.TB, err error, words int) {
	tb.Helper()
	var c *CorruptError
	if !errors.Is(err, ErrCorrupt) || !errors.As(err, &c) || c.Word < 0 || c.Word > words {
		tb.Fatalf("%v for %d words", err, words)
	}
}

// checkTotalSegments checks that a segment fails if and only if the list fails.
func checkTotalSegments(tb rapid.TB, l List, good bool) {
	tb.Helper()
	s, err := l.Segments()
	if err != nil {
		checkCorrupt(tb, err, len(l.Words))
		if good {
			tb.Fatal(err)
		}
		return
	}
	all := true
	for seg := range s.Last {
		var buf [SegmentLen]uint32
		n, err := s.Decode(seg, &buf)
		if err != nil {
			checkCorrupt(tb, err, len(l.Words))
			all = false
			continue
		}
		if n != segmentCount(s.Len, seg) || disorder(buf[:n]) != 0 || buf[n-1] != s.Last[seg] {
			tb.Fatalf("segment %d: docIDs %v, last %d", seg, buf[:n], s.Last[seg])
		}
	}
	if all != good {
		tb.Fatalf("segments good: %v, list good: %v", all, good)
	}
	checkTotalPacked(tb, l.Len, l.Words[len(s.Last):])
}

// checkTotalPacked is checkTotal for packed values.
func checkTotalPacked(tb rapid.TB, n uint32, words []uint32) (good bool) {
	tb.Helper()
	p, err := NewPacked(n, words)
	if err != nil {
		checkCorrupt(tb, err, len(words))
		return false
	}
	all, err := p.AppendTo([]uint32{7})
	if invalid := p.Validate(); (err == nil) != (invalid == nil) {
		tb.Fatalf("AppendTo: %v; Validate: %v", err, invalid)
	}
	if err != nil {
		checkCorrupt(tb, err, len(words))
		if !slices.Equal(all, []uint32{7}) {
			tb.Fatal("AppendTo changed dst and failed")
		}
	} else if uint64(len(all)) != uint64(n)+1 {
		tb.Fatalf("%d values for a length of %d", len(all)-1, n)
	}
	sum := uint64(0)
	for i := range min(n, 300) {
		before, value, fail := p.Sum(i)
		if fail != nil {
			checkCorrupt(tb, fail, len(words))
		}
		if i%SegmentLen == 0 {
			sum = 0
		}
		if err == nil {
			if fail != nil || value != all[1+i] || before != sum {
				tb.Fatalf("value %d is %d behind %d, Sum says %d behind %d, %v", i, all[1+i], sum, value, before, fail)
			}
			sum += uint64(value)
		}
		v, fail := p.At(i)
		if fail != nil {
			checkCorrupt(tb, fail, len(words))
		}
		if err == nil && (fail != nil || v != all[1+i]) {
			tb.Fatalf("value %d is %d, At says %d, %v", i, all[1+i], v, fail)
		}
	}
	return err == nil
}

// checkTotalBits checks that methods return, with any answer.
func checkTotalBits(l List) {
	b, err := l.Bits()
	if err != nil {
		return
	}
	for _, x := range []uint32{0, 1, 511, 512, 1 << 20, math.MaxUint32} {
		b.Has(x)
		b.Rank(x)
		if x < b.Len {
			b.Select(x)
		}
	}
}

// victims returns small lists of every codec that contain every part of its format.
func victims(tb testing.TB) (lists []List) {
	for _, g := range codectest.Generators() {
		for _, n := range []int{20, 135} {
			docs := g.List(1, n, 3000)
			for _, id := range ids {
				if len(docs) <= 135 || id != Raw && id != Bitset {
					lists = append(lists, encode(tb, id, docs, Options{ExceptionRatio: 0.2, RPFDLevels: 2}))
				}
			}
		}
	}
	return append(lists,
		encode(tb, ParaPFor, []uint32{math.MaxUint32}, Options{}),
		encode(tb, ParaPFor, []uint32{0, 1, 2, 3, 4, 5, 6, 7, 1 << 31, math.MaxUint32}, DefaultOptions()))
}

func TestTruncations(t *testing.T) {
	for _, l := range victims(t) {
		for n := range l.Words {
			if checkTotal(t, List{l.Codec, l.Len, l.Words[:n]}) {
				t.Errorf("%v list of %d words is taken with %d", l.Codec, len(l.Words), n)
			}
		}
		for _, extra := range []uint32{0, 1, math.MaxUint32} {
			if checkTotal(t, List{l.Codec, l.Len, append(slices.Clone(l.Words), extra)}) {
				t.Errorf("%v list of %d words is taken with one more, %#x", l.Codec, len(l.Words), extra)
			}
		}
	}
}

func TestWrongLength(t *testing.T) {
	for _, l := range victims(t) {
		for _, n := range []uint32{0, 1, l.Len - 1, l.Len + 1, l.Len + SegmentLen, math.MaxUint32} {
			// A tail of zeros or a run leaves the length open in other codecs.
			if n != l.Len && checkTotal(t, List{l.Codec, n, l.Words}) && canonical(l.Codec) {
				t.Errorf("%v list of %d docIDs is taken for %d", l.Codec, l.Len, n)
			}
		}
	}
}

// canonical tells whether a list has exactly one form in codec id.
func canonical(id ID) bool { return id == Raw || id == Bitset }

// A flipped bit gives an error or another list of the same length. A valid list of a
// canonical codec consists of the words of Append for its docIDs.
func TestBitFlips(t *testing.T) {
	step := 11 // others in each of eleven words
	switch {
	case os.Getenv("HEDDLE_TEST_FULL") != "":
		step = 1
	case testing.Short():
		step = 31
	}
	for _, l := range victims(t) {
		words := slices.Clone(l.Words)
		for i := range words {
			for bit := i % step; bit < 32; bit += step {
				words[i] ^= 1 << bit
				flipped := List{l.Codec, l.Len, words}
				if checkTotal(t, flipped) && canonical(l.Codec) {
					docs, _ := flipped.AppendTo(nil)
					if !slices.Equal(encode(t, l.Codec, docs, Options{}).Words, words) {
						t.Fatalf("%v: bit %d of word %d: taken, but not canonical", l.Codec, bit, i)
					}
				}
				words[i] ^= 1 << bit
			}
		}
	}
}

// Several random words change at once.
func TestRandomDamage(t *testing.T) {
	lists := victims(t)
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(lists).Draw(t, "list")
		words := slices.Clone(l.Words)
		for range rapid.IntRange(0, 4).Draw(t, "damages") {
			if len(words) > 0 {
				words[rapid.IntRange(0, len(words)-1).Draw(t, "word")] = rapid.Uint32().Draw(t, "value")
			}
		}
		checkTotal(t, List{l.Codec, l.Len, words})
	})
}

// Each case breaks one rule of a format. The error names the right word.
func TestRules(t *testing.T) {
	run := func(n int) (docs []uint32) {
		for i := range n {
			docs = append(docs, uint32(2*i+1))
		}
		return docs
	}
	spiked := func() []uint32 { // 128 gaps of one bit, two exceptions at 5 and 9
		docs := run(128)
		for i := range docs {
			if i >= 5 {
				docs[i] += 1000
			}
			if i >= 9 {
				docs[i] += 2000
			}
		}
		return docs
	}
	opt := DefaultOptions()
	for _, c := range []struct {
		name  string
		list  List
		word  int // index of the damaged word
		value uint32
		want  int // word in the error
	}{
		{"raw order", encode(t, Raw, run(4), opt), 2, 3, 2},
		{"last of a segment", encode(t, ParaPFor, run(200), opt), 0, 256, 0},
		{"last of the list", encode(t, ParaPFor, run(200), opt), 1, 400, 1},
		{"last below the segment before", encode(t, ParaPFor, run(200), opt), 1, 3, 1},
		{"first offset", encode(t, ParaPFor, run(20), opt), 1, 1, 1},
		{"offset of a neighbour", encode(t, ParaPFor, run(200), opt), 4, 5, 2},
		{"offset far outside", encode(t, ParaPFor, run(200), opt), 4, math.MaxUint32, 2},
		{"reserved bits", encode(t, ParaPFor, run(20), opt), 2, 1 | 1<<24, 2},
		{"33 bits", encode(t, ParaPFor, run(20), opt), 2, 33, 2},
		{"33 bits with the overflow", encode(t, ParaPFor, spiked(), opt), 2, 1 | 32<<6 | 4<<12 | 2<<16, 2},
		{"width without exceptions", encode(t, ParaPFor, run(20), opt), 2, 1 | 1<<6, 2},
		{"index width without exceptions", encode(t, ParaPFor, run(20), opt), 2, 1 | 1<<12, 2},
		{"exceptions of no bits", encode(t, ParaPFor, run(20), opt), 2, 1 | 1<<16, 2},
		{"too many exceptions", encode(t, ParaPFor, run(20), opt), 2, 1 | 1<<6 | 13<<16, 2},
		{"narrower than the payload", encode(t, ParaPFor, run(128), opt), 2, 0, 1},
		{"bits behind the values", encode(t, ParaPFor, run(20), opt), 3, 1<<31 | 1<<20 - 1, 3},
		{"index out of order", encode(t, ParaPFor, spiked(), opt), 7, 9 | 5<<4 | 500<<8 | 1000<<18, 7},
		{"index twice", encode(t, ParaPFor, spiked(), opt), 7, 9 | 9<<4 | 500<<8 | 1000<<18, 7},
		{"overflow of zero", encode(t, ParaPFor, spiked(), opt), 7, 5 | 9<<4 | 1000<<18, 7},
		{"index width too large", encode(t, ParaPFor, spiked(), opt), 7, 5 | 7<<4 | 500<<8 | 1000<<18, 2},
		{"overflow width too large", encode(t, ParaPFor, spiked(), opt), 7, 5 | 9<<4 | 500<<8 | 500<<18, 2},
		{"bits behind the exceptions", encode(t, ParaPFor, spiked(), opt), 7, 5 | 9<<4 | 500<<8 | 1000<<18 | 1<<31, 7},
		{"docIDs that wrap", encode(t, ParaPFor, []uint32{5, math.MaxUint32}, Options{}), 0, 4, 0},
		{"first rank", encode(t, Bitset, run(300), opt), 32, 1, 32},
		{"second rank", encode(t, Bitset, run(300), opt), 33, 255, 33},
		{"a bit too few", encode(t, Bitset, run(100), opt), 0, 0xaaaaaaa8, 16},
		{"a bit too many", encode(t, Bitset, run(100), opt), 0, 0xaaaaaaab, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !checkTotal(t, c.list) {
				t.Fatal("the list is not good to begin with")
			}
			c.list.Words[c.word] = c.value
			if checkTotal(t, c.list) {
				t.Fatal("taken")
			}
			var e *CorruptError
			if err := c.list.Validate(); !errors.As(err, &e) || e.Word != c.want || e.Codec != c.list.Codec {
				t.Errorf("%v, want word %d", err, c.want)
			}
		})
	}
}

// TestWideSegment: a whole segment without exceptions has values of 32 bits at most.
func TestWideSegment(t *testing.T) {
	for width, want := range map[uint32]bool{0: true, 32: true, 33: false, 63: false} {
		payload := SegmentLen / 32 * width
		words := append([]uint32{127, 255, 383, 0, 0, 0, width, payload, 0}, make([]uint32, payload)...)
		if good := checkTotal(t, List{ParaPFor, 3 * SegmentLen, words}); good != want {
			t.Errorf("gaps of 0 in %d bits: %v", width, good)
		}
		p, err := NewPacked(3*SegmentLen, words[3:])
		if err == nil {
			_, err = p.Decode(1, new([SegmentLen]uint32))
		}
		if (err == nil) != want {
			t.Errorf("values of 0 in %d bits: %v", width, err)
		}
	}
}

// TestRPFDWidth: a width of the greatest header, above 32 bits, is damage even where the slots have room for it.
func TestRPFDWidth(t *testing.T) {
	for width, want := range map[uint32]bool{0: true, 32: true, 33: false, 63: false} {
		words := append([]uint32{0, width, 0}, make([]uint32, packWords(1, uint(width)))...)
		if good := checkTotal(t, List{RPFD, 1, words}); good != want {
			t.Errorf("docID 0 in %d bits: %v", width, good)
		}
	}
}

// The last block of a Bitset must not be empty, because the same list has a shorter
// form.
func TestBitsetTrailingBlock(t *testing.T) {
	l := encode(t, Bitset, []uint32{3, 4}, Options{})
	words := slices.Concat(l.Words[:16], make([]uint32, 16), []uint32{0, 2})
	if checkTotal(t, List{Bitset, 2, words}) {
		t.Error("an empty last block is taken")
	}
	if checkTotal(t, List{Bitset, 0, make([]uint32, 17)}) {
		t.Error("blocks of an empty list are taken")
	}
}

// Decoders must not allocate memory for a declared length that the words cannot hold.
func TestLengthIsNotTrusted(t *testing.T) {
	for _, id := range ids {
		for _, words := range []int{0, 1, 3, 17, 300} {
			l := List{id, math.MaxUint32, make([]uint32, words)}
			t.Run(fmt.Sprintf("%v/%d", id, words), func(t *testing.T) {
				got, err := l.AppendTo(nil)
				if err == nil || cap(got) > 0 {
					t.Errorf("capacity %d, %v", cap(got), err)
				}
			})
		}
	}
	if _, err := NewPacked(math.MaxUint32, make([]uint32, 300)); err == nil {
		t.Error("NewPacked takes 300 words for 2^32-1 values")
	}
}
