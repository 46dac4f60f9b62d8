package bitslice

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// shapes are named columns: n codes, and which rows have a value (nil: all).
var shapes = map[string]func(r *rand.Rand, n int) (codes, has []uint64){
	"uniform": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		return fill(n, func(int) uint64 { return r.Uint64N(10000) }), nil
	},
	"clustered": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		at := uint64(0)
		return fill(n, func(i int) uint64 {
			if i%500 == 0 {
				at = r.Uint64N(1 << 40)
			}
			return at + r.Uint64N(8)
		}), nil
	},
	"sorted": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		codes := fill(n, func(int) uint64 { return r.Uint64N(1 << 33) })
		slices.Sort(codes)
		return codes, nil
	},
	"heavy tail": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		return fill(n, func(int) uint64 { return uint64(5 * math.Exp(1.5*r.NormFloat64())) }), missing(r, n, 10)
	},
	"constant": func(r *rand.Rand, n int) ([]uint64, []uint64) { return fill(n, func(int) uint64 { return 77 }), nil },
	"two values": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		return fill(n, func(int) uint64 { return 77 + r.Uint64N(2) }), missing(r, n, 2)
	},
	"rare": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		return fill(n, func(int) uint64 { return 1000 - min(1, r.Uint64N(200)) }), missing(r, n, 300)
	},
	"all missing": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		return fill(n, func(int) uint64 { return r.Uint64() }), make([]uint64, n/64+1)
	},
	"extremes": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		return fill(n, func(int) uint64 {
			return [...]uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1<<63 - 1}[r.IntN(6)]
		}), missing(r, n, 4)
	},
	"at the end": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		return fill(n, func(int) uint64 { return math.MaxUint64 - r.Uint64N(6) }), nil
	},
	"multiples": func(r *rand.Rand, n int) ([]uint64, []uint64) {
		return fill(n, func(int) uint64 { return 1<<40 + 4096*r.Uint64N(100) }), missing(r, n, 64)
	},
}

func fill(n int, f func(i int) uint64) []uint64 {
	codes := make([]uint64, n)
	for i := range codes {
		codes[i] = f(i)
	}
	return codes
}

// missing leaves out a row of each one in of rows.
func missing(r *rand.Rand, n, in int) []uint64 {
	has := make([]uint64, n/64+1)
	for i := range n {
		if r.IntN(in) != 0 {
			has[i/64] |= 1 << (i % 64)
		}
	}
	return has
}

// column encodes codes.
func column(codes, has []uint64) Column {
	c := Column{Rows: uint32(len(codes))}
	for from := 0; from < len(codes); from += TileRows {
		var part []uint64
		if has != nil {
			part = has[from/64:]
		}
		var t Tile
		c.Words, t = Append(c.Words, codes[from:min(from+TileRows, len(codes))], part)
		c.Tiles = append(c.Tiles, t)
	}
	return c
}

var lengths = []int{1, 2, 63, 64, 65, 127, 128, 129, 1000, 4032, 4033, 4095, 4096, 4097, 3*4096 + 20}

func eachShape(t *testing.T, f func(t *testing.T, r *rand.Rand, codes, has []uint64)) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, n := range lengths {
				r := rand.New(rand.NewPCG(uint64(n), 1))
				codes, has := shape(r, n)
				f(t, r, codes, has)
			}
		})
	}
}

func valid(has []uint64, row int) bool { return has == nil || has[row/64]>>(row%64)&1 != 0 }

func TestColumnsReadBack(t *testing.T) {
	eachShape(t, func(t *testing.T, r *rand.Rand, codes, has []uint64) {
		c := column(codes, has)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		var got [TileRows]uint64
		for tile := range c.Tiles {
			var rows Set
			c.Has(tile, &rows)
			n := c.Decode(tile, &got)
			if want := min(TileRows, len(codes)-tile*TileRows); n != want {
				t.Fatalf("tile %d has %d rows, want %d", tile, n, want)
			}
			for k := range TileRows {
				row := tile*TileRows + k
				if row >= len(codes) {
					if rows[k/64]>>(k%64)&1 != 0 {
						t.Fatalf("row %d behind the end has a value", row)
					}
					continue
				}
				code, ok := c.At(uint32(row))
				if ok != valid(has, row) || ok != (rows[k/64]>>(k%64)&1 != 0) {
					t.Fatalf("%d rows: row %d has a value: %v", len(codes), row, ok)
				}
				if ok && (code != codes[row] || got[k] != code) {
					t.Fatalf("%d rows: row %d has code %d, decoded %d, want %d", len(codes), row, code, got[k], codes[row])
				}
				if !ok && got[k] != c.Tiles[tile].Min {
					t.Fatalf("row %d without a value has code %d", row, got[k])
				}
				if ok && (code < c.Tiles[tile].Min || code > c.Tiles[tile].Max()) {
					t.Fatalf("code %d of row %d lies outside of its tile", code, row)
				}
			}
			var some []uint16
			for range 9 {
				some = append(some, uint16(r.IntN(n)))
			}
			few := make([]uint64, len(some)+1)
			few[len(some)] = 5
			c.Some(tile, some, few)
			for k, row := range some {
				if few[k] != got[row] {
					t.Fatalf("row %d of tile %d has code %d, decoded %d", row, tile, few[k], got[row])
				}
			}
			if few[len(some)] != 5 {
				t.Fatal("a code behind the rows changed")
			}
		}
	})
}

func TestWithinEqualsPlainLoops(t *testing.T) {
	eachShape(t, func(t *testing.T, r *rand.Rand, codes, has []uint64) {
		c := column(codes, has)
		pick := func() uint64 {
			switch r.IntN(8) {
			case 0:
				return r.Uint64()
			case 1:
				return 0
			case 2:
				return math.MaxUint64
			}
			return codes[r.IntN(len(codes))] + r.Uint64N(3) - 1
		}
		for range 12 {
			var bounds []uint64
			for range 2 * []int{0, 1, 1, 1, 2, 3, 5, 20, FewRanges + 1}[r.IntN(9)] {
				bounds = append(bounds, pick())
			}
			slices.Sort(bounds)
			var ranges []Range
			for i := 0; i < len(bounds); i += 2 {
				lo, hi := bounds[i], bounds[i+1]
				if r.IntN(3) == 0 {
					hi = lo
				}
				if len(ranges) == 0 || lo > ranges[len(ranges)-1].Hi {
					ranges = append(ranges, Range{lo, hi})
				}
			}
			density := []int{1, 2, 64, 1000}[r.IntN(4)]
			for tile := range c.Tiles {
				var rows, want Set
				n := c.Tiles[tile].Rows()
				for k := range n {
					if r.IntN(density) != 0 {
						continue
					}
					rows[k/64] |= 1 << (k % 64)
					row := tile*TileRows + k
					if valid(has, row) && slices.ContainsFunc(ranges, func(x Range) bool { return x.Lo <= codes[row] && codes[row] <= x.Hi }) {
						want[k/64] |= 1 << (k % 64)
					}
				}
				got := rows
				left := c.Within(tile, ranges, &got)
				if got != want || left == want.empty() {
					t.Fatalf("%d rows, tile %d, ranges %v, 1 row of %d: wrong rows (any %v)", len(codes), tile, ranges, density, left)
				}
				var have Set
				c.Has(tile, &have)
				if zone := c.Tiles[tile].Zone(ranges); zone == None && !want.empty() || zone == All && want != rows {
					t.Fatalf("tile %d, ranges %v: zone %v", tile, ranges, zone)
				}
			}
		}
	})
}

// TestFormsOfSlices fixes the layout.
func TestFormsOfSlices(t *testing.T) {
	full := fill(TileRows, func(i int) uint64 { return 10 + uint64(i)*7%64 })
	tail := slices.Clone(full)
	for i := range tail {
		tail[i] = 10 + uint64(i)%4
	}
	tail[100], tail[300] = 10+32, 10+16+32 // two sparse slices, one constant
	for _, x := range []struct {
		name         string
		codes, has   []uint64
		width, flags uint8
		words        int
		directory    []uint16
	}{
		{"plain", full, nil, 6, FlagPlain, 6 * 128, nil},
		{"heavy tail", tail, nil, 6, 0, 4 + 4 + 4 + 2*128, []uint16{3<<14 | 1, 3<<14 | 2, 1 << 14, 1 << 14, 3, 35}},
		{"constant", fill(TileRows, func(int) uint64 { return 5 }), nil, 0, FlagPlain, 0, nil},
		{"no values", full[:100], make([]uint64, 2), 0, FlagMissing, 4, []uint16{1 << 14}},
		{"few rows", full[:20], nil, 6, FlagPlain, 6 * 4, nil},
	} {
		words, tile := Append(nil, x.codes, x.has)
		if tile.Width != x.width || tile.Flags != x.flags || len(words) != x.words || int(tile.Words) != x.words {
			t.Errorf("%s: width %d, flags %d, %d words", x.name, tile.Width, tile.Flags, len(words))
		}
		for i, want := range x.directory {
			if got := half(words, i); got != want {
				t.Errorf("%s: slice %d has entry %#x, want %#x", x.name, i, got, want)
			}
		}
	}
}

func TestSlicesTakeLittleRoom(t *testing.T) {
	for name, most := range map[string]float64{"uniform": 14, "heavy tail": 8.2, "constant": 0, "sorted": 29.2, "rare": 0.8} {
		codes, has := shapes[name](rand.New(rand.NewPCG(1, 1)), 16*TileRows)
		c := column(codes, has)
		if bits := 32 * float64(len(c.Words)) / float64(len(codes)); bits > most {
			t.Errorf("%s: %.2f bits a row, want at most %.2f", name, bits, most)
		}
	}
}

func TestValidateNamesDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	codes, has := shapes["heavy tail"](r, TileRows+100)
	for name, damage := range map[string]func(c *Column){
		"tiles":       func(c *Column) { c.Tiles = c.Tiles[:1] },
		"rows":        func(c *Column) { c.Tiles[0].Last-- },
		"short":       func(c *Column) { c.Tiles[1].Last++ },
		"width":       func(c *Column) { c.Tiles[0].Width = 65 },
		"flags":       func(c *Column) { c.Tiles[0].Flags |= 4 },
		"plain":       func(c *Column) { c.Tiles[0].Flags |= FlagPlain },
		"offset":      func(c *Column) { c.Tiles[1].Off++ },
		"far":         func(c *Column) { c.Tiles[1].Off = math.MaxUint64 - 3 },
		"words":       func(c *Column) { c.Tiles[1].Words += Align },
		"few words":   func(c *Column) { c.Tiles[0].Words = Align },
		"valid":       func(c *Column) { c.Tiles[0].Valid-- },
		"all valid":   func(c *Column) { c.Tiles[0].Valid = TileRows },
		"slice":       func(c *Column) { c.Words[0] = 1<<14 - 1 },
		"positions":   func(c *Column) { sparseSlice(c)[0] |= sparseCount },
		"order":       func(c *Column) { p := sparseSlice(c); p[1] = p[1]<<16 | p[1]&0xffff },
		"no position": func(c *Column) { sparseSlice(c)[1] |= 0xffff << 16 },
	} {
		c := column(codes, has)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		damage(&c)
		if err := c.Validate(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestValidateBounds: the bounds of a tile are those of its codes, and rows without a value have no bits.
func TestValidateBounds(t *testing.T) {
	for name, shape := range shapes {
		codes, has := shape(rand.New(rand.NewPCG(4, 1)), TileRows+100)
		c := column(codes, has)
		for i := range c.Tiles {
			if err := c.ValidateBounds(i); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	wide := Column{Rows: 1, Tiles: []Tile{{Width: 2, Flags: FlagPlain, Words: 8, Valid: 1}}, Words: []uint32{0, 0, 0, 0, 1, 0, 0, 0}}
	wraps := Column{Rows: 1, Tiles: []Tile{{Min: math.MaxUint64, Width: 1, Flags: FlagPlain, Words: 4, Valid: 1}}, Words: []uint32{1, 0, 0, 0}}
	high := Column{Rows: 2, Tiles: []Tile{{Width: 1, Flags: FlagPlain, Last: 1, Words: 4, Valid: 2}}, Words: []uint32{3, 0, 0, 0}}
	hidden := Column{Rows: 2, Tiles: []Tile{{Width: 1, Flags: FlagPlain | FlagMissing, Last: 1, Words: 8, Valid: 1}}, Words: []uint32{1, 0, 0, 0, 2, 0, 0, 0}}
	for name, c := range map[string]Column{"wide": wide, "wraps": wraps, "minimum": high, "bits without a value": hidden} {
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.ValidateBounds(0); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sparseSlice returns the first sparse slice of tile 0 with three positions or more.
func sparseSlice(c *Column) []uint32 {
	t := &c.Tiles[0]
	for i := range t.slices() {
		if f, at := t.entry(c.words(t), i); f == sparse && c.Words[at]&sparseCount > 2 {
			return c.Words[at:]
		}
	}
	panic("no sparse slice")
}

func TestAppendRefusesBadInput(t *testing.T) {
	for name, f := range map[string]func(){
		"none":      func() { Append(nil, nil, nil) },
		"many":      func() { Append(nil, make([]uint64, TileRows+1), nil) },
		"unaligned": func() { Append(make([]uint32, 3), make([]uint64, 1), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func FuzzReaders(f *testing.F) {
	for name, shape := range shapes {
		codes, has := shape(rand.New(rand.NewPCG(uint64(len(name)), 1)), 300)
		c := column(codes, has)
		t := c.Tiles[0]
		data := make([]byte, 0, 4*len(c.Words))
		for _, w := range c.Words {
			data = append(data, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
		}
		f.Add(uint16(300), t.Min, t.Width, t.Flags, t.Valid, uint64(80), uint64(90), data)
	}
	f.Fuzz(func(t *testing.T, rows uint16, least uint64, width, flags uint8, valid uint32, lo, hi uint64, data []byte) {
		n := 1 + int(rows)%TileRows
		c := Column{Rows: uint32(n), Tiles: []Tile{{Min: least, Width: width, Flags: flags, Last: uint16(n - 1), Valid: valid}}}
		for ; len(data) >= 4; data = data[4:] {
			c.Words = append(c.Words, uint32(data[0])|uint32(data[1])<<8|uint32(data[2])<<16|uint32(data[3])<<24)
		}
		c.Tiles[0].Words = uint32(len(c.Words))
		if c.Validate() != nil {
			return
		}
		var codes [TileRows]uint64
		var some [1]uint64
		var rowsIn, all Set
		c.Decode(0, &codes)
		for k := range n {
			all[k/64] |= 1 << (k % 64)
		}
		rowsIn = all
		ranges := []Range{{min(lo, hi), max(lo, hi)}}
		c.Within(0, ranges, &rowsIn)
		for k := range uint32(n) {
			code, ok := c.At(k)
			if got := rowsIn[k/64]>>(k%64)&1 != 0; got && !ok || ok && code >= c.Tiles[0].Min && got != (ranges[0].Lo <= code && code <= ranges[0].Hi) {
				t.Fatalf("row %d: code %d, ok %v, within %v: %v", k, code, ok, ranges, got)
			}
			c.Some(0, []uint16{uint16(k)}, some[:])
			if ok && (code != codes[k] || code != some[0]) {
				t.Fatalf("row %d: code %d, decoded %d and %d", k, code, codes[k], some[0])
			}
		}
	})
}

func ExampleColumn_Within() {
	words, tile := Append(nil, []uint64{17, 30, 25, 90}, nil)
	c := Column{Rows: 4, Tiles: []Tile{tile}, Words: words}
	rows := Set{0b1111}
	c.Within(0, []Range{{20, 30}}, &rows)
	fmt.Printf("%04b\n", rows[0])
	// Output: 0110
}
