package bitslice

import (
	"math"
	"math/bits"
)

// Append appends the words of a tile of 1 to TileRows codes to words and returns the extended slice
// and the tile, at the end of words, whose length must be a multiple of Align. Bit r%64 of word r/64
// of has tells whether row r has a value; nil means that all have one. The code of another row is
// arbitrary. Equal rows give equal words.
func Append(words []uint32, codes []uint64, has []uint64) ([]uint32, Tile) {
	if len(codes) == 0 || len(codes) > TileRows || len(words)%Align != 0 {
		panic("bitslice: no rows, more rows than a tile has, or words that are not aligned")
	}
	t := Tile{Off: uint64(len(words)), Last: uint16(len(codes) - 1)}
	var b block
	b.fill(&t, codes, has)
	start, slices := len(words), t.slices()
	var forms [65]form
	var counts [65]int
	t.Flags |= FlagPlain
	for i := range slices {
		if forms[i], counts[i] = b.form(i, len(codes)); forms[i] != plain {
			t.Flags &^= FlagPlain
		}
	}
	if t.Flags&FlagPlain == 0 {
		words = append(words, make([]uint32, directoryWords(slices))...)
	}
	for i := range slices {
		at := len(words)
		switch forms[i] {
		case plain:
			words = append(words, b[i][:t.plainWords()]...)
		case sparse:
			words = b.appendSparse(words, i, counts[i], len(codes))
		}
		if t.Flags&FlagPlain == 0 {
			e := uint32(forms[i]) << 14
			if len(words) > at {
				e |= uint32(at-start) / Align
			}
			words[start+i/2] |= e << (i % 2 * 16)
		}
	}
	t.Words = uint32(len(words) - start)
	return words, t
}

// block holds the slices of a tile in their order, as plain ones.
type block [65][TileRows / 32]uint32

// fill sets Min, Width, Valid and the flag of missing rows of t, and the slices.
func (b *block) fill(t *Tile, codes, has []uint64) {
	least, greatest, n := uint64(math.MaxUint64), uint64(0), 0
	all := func(from int) uint64 { return ^uint64(0) >> (64 - min(64, len(codes)-from)) }
	valid := func(from int) uint64 {
		if has == nil {
			return all(from)
		}
		return has[from/64] & all(from)
	}
	for from := 0; from < len(codes); from += 64 {
		rows := valid(from)
		n += bits.OnesCount64(rows)
		for ; rows != 0; rows &= rows - 1 {
			code := codes[from+bits.TrailingZeros64(rows)]
			least, greatest = min(least, code), max(greatest, code)
		}
	}
	if t.Valid = uint32(n); n > 0 {
		t.Min, t.Width = least, uint8(bits.Len64(greatest-least))
	}
	first := 0
	if n < len(codes) {
		t.Flags, first = FlagMissing, 1
	}
	var part [64]uint64
	for from := 0; from < len(codes); from += 64 {
		rows := valid(from)
		for k := range part {
			part[k] = 0
			if rows>>k&1 != 0 {
				part[k] = codes[from+k] - t.Min
			}
		}
		put := func(i int, x uint64) { b[i][from/32], b[i][from/32+1] = uint32(x), uint32(x>>32) }
		transpose(&part)
		for i := range int(t.Width) {
			put(first+i, part[int(t.Width)-1-i])
		}
		if first > 0 {
			put(0, rows)
		}
	}
}

// transpose makes bit k of word i from bit i of word k.
func transpose(x *[64]uint64) {
	for width, low := 32, uint64(1<<32-1); width > 0; width, low = width/2, low^low<<(width/2) {
		for i := 0; i < 64; i = (i + width + 1) &^ width {
			swap := (x[i]>>width ^ x[i+width]) & low
			x[i] ^= swap << width
			x[i+width] ^= swap
		}
	}
}

// form chooses the form of slice i of a tile of the given rows. For a sparse slice it returns the
// number of its positions.
func (b *block) form(i, rows int) (form, int) {
	n := 0
	for _, w := range b[i] {
		n += bits.OnesCount32(w)
	}
	rare := min(n, rows-n)
	switch {
	case n == 0:
		return zeros, 0
	case n == rows:
		return ones, 0
	case 2*sparseWords(rare) <= (rows+127)/128*Align:
		return sparse, rare
	}
	return plain, 0
}

func (b *block) appendSparse(words []uint32, i, n, rows int) []uint32 {
	head, flip, start, ones := uint32(n), uint32(0), len(words), 0
	for _, w := range b[i] {
		ones += bits.OnesCount32(w)
	}
	if ones == n {
		head |= sparseBit
	} else {
		flip = math.MaxUint32
	}
	words = append(words, make([]uint32, sparseWords(n))...)
	words[start] = head
	k := 1
	for g, w := range b[i][:(rows+31)/32] {
		w ^= flip
		if rest := rows - 32*g; rest < 32 {
			w &= 1<<rest - 1
		}
		for ; w != 0; w &= w - 1 {
			words[start+k/2] |= uint32(32*g+bits.TrailingZeros32(w)) << (k % 2 * 16)
			k++
		}
	}
	return words
}
