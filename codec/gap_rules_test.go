package codec

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// Each case breaks one rule of a gap codec. The error names the right word.
func TestGapRules(t *testing.T) {
	run := func(n int) (docs []uint32) { // gaps of 1
		for i := range n {
			docs = append(docs, uint32(2*i+1))
		}
		return docs
	}
	spiked := func(n int) []uint32 { // and two of 1001 and 2001, at 5 and 9
		docs := run(n)
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
	nested := func() []uint32 { // exceptions whose offsets and overflows have exceptions
		docs := run(128)
		for i := range docs {
			docs[i] += uint32(min(i+1, 100) / 2 * 1000)
		}
		docs[127] += 1 << 28
		return docs
	}
	top := []uint32{math.MaxUint32}
	for _, c := range []struct {
		name  string
		id    ID
		docs  []uint32
		level int
		word  int // index of the damaged word
		value uint32
		want  int // word in the error
	}{
		{"last of a segment", VByte, run(200), 0, 0, 254, 0},
		{"last of the list", VByte, run(200), 0, 1, 400, 1},
		{"first offset", VByte, run(200), 0, 2, 1, 2},
		{"offset behind the payload", VByte, run(200), 0, 3, 99, 2},
		{"offset before its segment", VByte, run(200), 0, 3, 31, 4},
		{"more bytes than values", VByte, run(200), 0, 3, 33, 4},
		{"five bytes of more than 32 bits", VByte, top, 0, 3, 0x10, 2},
		{"six bytes", VByte, top, 0, 3, 0x80, 2},
		{"no last byte", VByte, run(4), 0, 2, 0x81010101, 2},
		{"bytes behind the last value", VByte, run(3), 0, 2, 0x01010101, 2},

		{"last of a segment", Rice, run(200), 0, 0, 254, 0},
		{"first sum", Rice, run(200), 0, 2, 1, 2},
		{"second sum", Rice, spiked(200), 0, 3, 5, 3},
		{"sum behind the codes", Rice, run(200), 0, 3, math.MaxUint32, 3},
		{"width of 32 bits", Rice, run(200), 0, 4, 32, 4},
		{"width that leaves no room", Rice, run(200), 0, 4, 9, 19},
		{"bits behind the binary codes", Rice, run(20), 0, 3, 1 << 20, 3},
		{"bits behind the unary codes", Rice, run(20), 0, 4, 1 << 20, 4},
		{"a quotient too large", Rice, run(20), 0, 4, 1 << 19, 0},

		{"last of the list", PFD, spiked(200), 0, 1, 4000, 1},
		{"first offset", PFD, spiked(200), 0, 2, 1, 2},
		{"offset of a neighbour", PFD, spiked(200), 0, 4, 5, 3},
		{"offset behind the payload", PFD, spiked(200), 0, 4, 999, 2},
		{"reserved bits", PFD, run(20), 0, 2, 1 | 1<<6 | 128<<8, 2},
		{"33 bits", PFD, run(20), 0, 2, 33 | 128<<8, 2},
		{"exceptions beside 32 bits", PFD, top, 0, 2, 32 | 1<<16, 2},
		{"first exception without exceptions", PFD, run(20), 0, 2, 1 | 19<<8, 2},
		{"exceptions without a first", PFD, spiked(20), 0, 2, 2 | 128<<8 | 2<<16, 2},
		{"first exception behind the values", PFD, spiked(20), 0, 2, 2 | 20<<8 | 2<<16, 2},
		{"fewer exceptions", PFD, spiked(20), 0, 2, 2 | 5<<8 | 1<<16, 2},
		{"bits behind the slots", PFD, run(20), 0, 3, 0x1fffff, 3},
		{"a link too long", PFD, spiked(11), 0, 3, 0x55d555 &^ (3 << 18), 3},

		{"last of the list", NewPFD, spiked(200), 0, 1, 4000, 1},
		{"first offset", NewPFD, spiked(200), 0, 2, 1, 2},
		{"reserved bits", NewPFD, run(20), 0, 2, 1 | 1<<7, 2},
		{"33 bits", NewPFD, run(20), 0, 2, 33, 2},
		{"exceptions beside 32 bits", NewPFD, top, 0, 2, 32 | 1<<8 | 1<<16, 2},
		{"more exceptions than values", NewPFD, spiked(20), 0, 2, 1 | 21<<8 | 1<<16, 2},
		{"exceptions without positions", NewPFD, spiked(20), 0, 2, 1 | 2<<8, 2},
		{"positions without exceptions", NewPFD, spiked(20), 0, 2, 1 | 1<<16, 2},
		{"an exception less", NewPFD, spiked(20), 0, 2, 1 | 1<<8 | 1<<16, 4},
		{"an exception more", NewPFD, spiked(20), 0, 2, 1 | 15<<8 | 1<<16, 4},
		{"more positions than words", NewPFD, spiked(20), 0, 2, 1 | 2<<8 | 9<<16, 2},
		{"bits behind the values", NewPFD, spiked(20), 0, 3, 1 << 31, 3},
		{"a position too large", NewPFD, spiked(20), 0, 4, 14<<28 | 5 | 15<<14, 4},
		{"an overflow too large", NewPFD, []uint32{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, math.MaxUint32}, 0, 7, 15<<28 | s16Max, 6},

		{"last of a segment", RPFD, spiked(200), 1, 0, 254, 0},
		{"reserved bits", RPFD, spiked(200), 1, 2, 1 | 1<<6 | 1<<8, 2},
		{"33 bits", RPFD, spiked(200), 1, 2, 33 | 1<<8, 2},
		{"five levels", RPFD, spiked(200), 1, 2, 1 | 5<<8, 2},
		{"exceptions beside 32 bits", RPFD, top, 1, 2, 1, 1},
		{"another level", RPFD, spiked(200), 1, 2, 1 | 2<<8, 14},
		{"more exceptions than values", RPFD, spiked(20), 1, 2, 21, 2},
		{"more exceptions than words", RPFD, spiked(200), 0, 3, 3, 14},
		{"overflows before the offsets", RPFD, spiked(200), 1, 4, 11, 4},
		{"overflows behind the end", RPFD, spiked(200), 1, 4, 99, 4},
		{"first start", RPFD, spiked(200), 1, 5, 1, 5},
		{"starts that descend", RPFD, spiked(200), 1, 6, 3, 5},
		{"exceptions of another block", RPFD, spiked(200), 0, 6, 1, 0},
		{"bits behind the slots", RPFD, spiked(200), 0, 13, 1 << 9, 13},
		{"first start of the offsets", RPFD, nested(), 1, 12, 1, 12},
		{"first start of the overflows", RPFD, nested(), 1, 20, 1, 20},
		{"an index behind the block", RPFD, spiked(200), 0, 14, 125, 5},
		{"an overflow too large", RPFD, spiked(200), 0, 16, math.MaxUint32, 5},
	} {
		t.Run(c.id.String()+"/"+c.name, func(t *testing.T) {
			l := encode(t, c.id, c.docs, Options{RPFDLevels: c.level})
			if !checkTotal(t, l) {
				t.Fatal("the list is not good to begin with")
			}
			before := slices.Clone(l.Words)
			l.Words[c.word] = c.value
			if slices.Equal(before, l.Words) || checkTotal(t, l) {
				t.Fatalf("taken: %x, before %x", l.Words, before)
			}
			var e *CorruptError
			if err := l.Validate(); !errors.As(err, &e) || e.Word != c.want || e.Codec != c.id {
				t.Errorf("%v, want word %d; %x, before %x", err, c.want, l.Words, before)
			}
		})
	}
}
