package bitslice

import (
	"math/rand/v2"
	"testing"

	"heddle/codec"
)

// BenchmarkWithin evaluates a range on a tile of uniform codes, slices beside decoded values.
func BenchmarkWithin(b *testing.B) {
	for _, x := range []struct {
		name   string
		values uint64
		r      Range
	}{
		{"64", 64, Range{10, 30}},
		{"10000", 10000, Range{0, 3332}},
		{"1000000", 1000000, Range{100000, 500000}},
		{"1000000 one", 1000000, Range{77777, 77777}},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		codes := fill(64*TileRows, func(int) uint64 { return r.Uint64N(x.values) })
		c := column(codes, nil)
		var all Set
		c.Has(0, &all)
		b.Run(x.name, func(b *testing.B) {
			b.SetBytes(TileRows)
			for i := 0; b.Loop(); i++ {
				rows := all
				c.Within(i%64, []Range{x.r}, &rows)
			}
		})
		values := make([]uint32, len(codes))
		for i, code := range codes {
			values[i] = uint32(code)
		}
		words, err := codec.AppendPacked(nil, values, codec.DefaultOptions())
		if err != nil {
			b.Fatal(err)
		}
		p, err := codec.NewPacked(uint32(len(values)), words)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(x.name+"/packed", func(b *testing.B) {
			b.SetBytes(TileRows)
			var buf [codec.SegmentLen]uint32
			for i := 0; b.Loop(); i++ {
				rows := Set{}
				for seg := range TileRows / codec.SegmentLen {
					p.Decode(i%64*(TileRows/codec.SegmentLen)+seg, &buf)
					for k, code := range buf {
						in := uint64(0)
						if uint64(code)-x.r.Lo <= x.r.Hi-x.r.Lo {
							in = 1
						}
						rows[seg*(codec.SegmentLen/64)+k/64] |= in << (k % 64)
					}
				}
			}
		})
		b.Run(x.name+"/decode", func(b *testing.B) {
			b.SetBytes(TileRows)
			var codes [TileRows]uint64
			for i := 0; b.Loop(); i++ {
				c.Decode(i%64, &codes)
			}
		})
		b.Run(x.name+"/decode packed", func(b *testing.B) {
			b.SetBytes(TileRows)
			var buf [codec.SegmentLen]uint32
			for i := 0; b.Loop(); i++ {
				for seg := range TileRows / codec.SegmentLen {
					p.Decode(i%64*(TileRows/codec.SegmentLen)+seg, &buf)
				}
			}
		})
		b.Run(x.name+"/append", func(b *testing.B) {
			b.SetBytes(TileRows)
			var words []uint32
			for b.Loop() {
				words, _ = Append(words[:0], codes[:TileRows], nil)
			}
		})
	}
}
