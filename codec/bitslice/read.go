package bitslice

import "sort"

// Set is rows of a tile: row r is bit r%64 of word r/64.
type Set [TileWords]uint64

// pairs is a plain slice of a full tile, in words of 4 bytes.
type pairs [TileWords][2]uint32

var allZeros, allOnes = new(pairs), func() *pairs {
	p := new(pairs)
	for g := range p {
		p[g] = [2]uint32{1<<32 - 1, 1<<32 - 1}
	}
	return p
}()

// words returns the words of a tile.
func (c *Column) words(t *Tile) []uint32 { return c.Words[t.Off:][:t.Words] }

// slice returns slice i of a tile, in buf unless it lies plain in words or is constant. Bits behind the
// last row are arbitrary.
func (t *Tile) slice(words []uint32, i int, buf *pairs) *pairs {
	f, at := t.entry(words, i)
	switch f {
	case zeros:
		return allZeros
	case ones:
		return allOnes
	case plain:
		part := words[at:]
		if t.Rows() > TileRows-64 { // all words of the slice are there
			return pairsOf(part)
		}
		part = part[:t.plainWords()]
		for g := range buf {
			buf[g] = [2]uint32{}
			if 2*g < len(part) {
				buf[g] = [2]uint32{part[2*g], part[2*g+1]}
			}
		}
	case sparse:
		part := words[at:]
		*buf = *allZeros
		n, flip := int(part[0]&sparseCount), part[0]&sparseBit == 0
		for k := range n {
			x := half(part, k+1) % TileRows
			buf[x/64][x/32%2] |= 1 << (x % 32)
		}
		if flip {
			for g := range buf {
				buf[g][0], buf[g][1] = ^buf[g][0], ^buf[g][1]
			}
		}
	}
	return buf
}

// Has sets to to the rows of a tile that have a value.
func (c Column) Has(tile int, to *Set) {
	t := &c.Tiles[tile]
	for g := range to {
		to[g] = rowsOf(t, g)
	}
	if t.Flags&FlagMissing == 0 {
		return
	}
	var buf pairs
	p := t.slice(c.words(t), 0, &buf)
	for g := range to {
		to[g] &= uint64(p[g][0]) | uint64(p[g][1])<<32
	}
}

// At returns the code of a row, and whether it has a value.
func (c Column) At(row uint32) (code uint64, ok bool) {
	t := &c.Tiles[row/TileRows]
	words := c.words(t)
	row %= TileRows
	first := 0
	if t.Flags&FlagMissing != 0 {
		if first = 1; t.bit(words, 0, row) == 0 {
			return 0, false
		}
	}
	for i := range int(t.Width) {
		code = code<<1 | t.bit(words, first+i, row)
	}
	return t.Min + code, true
}

// bit returns the bit of a row in slice i.
func (t *Tile) bit(words []uint32, i int, row uint32) uint64 {
	f, at := t.entry(words, i)
	switch f {
	case zeros:
		return 0
	case ones:
		return 1
	case plain:
		return uint64(words[at+int(row/32)] >> (row % 32) & 1)
	}
	part := words[at:]
	n, rare := int(part[0]&sparseCount), uint64(part[0]>>15&1)
	k := sort.Search(n, func(k int) bool { return uint32(half(part, k+1)) >= row })
	if k < n && uint32(half(part, k+1)) == row {
		return rare
	}
	return 1 - rare
}

// Decode writes the codes of a tile and returns the number of its rows. A row without a value has the
// code Min of the tile. Codes behind the last row are arbitrary.
func (c Column) Decode(tile int, codes *[TileRows]uint64) int {
	t := &c.Tiles[tile]
	groups := (t.Rows() + 63) / 64
	if t.Width == 0 {
		for i := range codes[:64*groups] {
			codes[i] = t.Min
		}
		return t.Rows()
	}
	words := c.words(t)
	var bufs [8]pairs
	var p [8]*pairs
	for low := 0; low < int(t.Width); low += 8 { // eight slices at a time
		for j := range p {
			p[j] = allZeros
			if bit := low + j; bit < int(t.Width) {
				p[j] = t.slice(words, t.slices()-1-bit, &bufs[j])
			}
		}
		for g := range min(groups, TileWords) {
			x := [8]uint64{
				uint64(p[0][g][0]) | uint64(p[0][g][1])<<32, uint64(p[1][g][0]) | uint64(p[1][g][1])<<32,
				uint64(p[2][g][0]) | uint64(p[2][g][1])<<32, uint64(p[3][g][0]) | uint64(p[3][g][1])<<32,
				uint64(p[4][g][0]) | uint64(p[4][g][1])<<32, uint64(p[5][g][0]) | uint64(p[5][g][1])<<32,
				uint64(p[6][g][0]) | uint64(p[6][g][1])<<32, uint64(p[7][g][0]) | uint64(p[7][g][1])<<32,
			}
			toBytes(&x)
			to := (*[64]uint64)(codes[64*g:])
			if low == 0 {
				for b := 0; b < 64; b += 8 {
					to := (*[8]uint64)(to[b:])
					to[0], to[1] = t.Min+x[0]>>b&255, t.Min+x[1]>>b&255
					to[2], to[3] = t.Min+x[2]>>b&255, t.Min+x[3]>>b&255
					to[4], to[5] = t.Min+x[4]>>b&255, t.Min+x[5]>>b&255
					to[6], to[7] = t.Min+x[6]>>b&255, t.Min+x[7]>>b&255
				}
				continue
			}
			for b := 0; b < 64; b += 8 {
				to := (*[8]uint64)(to[b:])
				to[0], to[1] = to[0]+x[0]>>b&255<<low, to[1]+x[1]>>b&255<<low
				to[2], to[3] = to[2]+x[2]>>b&255<<low, to[3]+x[3]>>b&255<<low
				to[4], to[5] = to[4]+x[4]>>b&255<<low, to[5]+x[5]>>b&255<<low
				to[6], to[7] = to[6]+x[6]>>b&255<<low, to[7]+x[7]>>b&255<<low
			}
		}
	}
	return t.Rows()
}

// toBytes transposes eight slices of 64 rows: byte b of word i becomes the bits of row 8b+i, slice j in
// bit j.
func toBytes(x *[8]uint64) {
	const fours, twos, ones = 0x0f0f0f0f0f0f0f0f, 0x3333333333333333, 0x5555555555555555
	for i := range 4 {
		s := (x[i]>>4 ^ x[i+4]) & fours
		x[i] ^= s << 4
		x[i+4] ^= s
	}
	for i := 0; i < 8; i += 4 {
		s, u := (x[i]>>2^x[i+2])&twos, (x[i+1]>>2^x[i+3])&twos
		x[i], x[i+1] = x[i]^s<<2, x[i+1]^u<<2
		x[i+2], x[i+3] = x[i+2]^s, x[i+3]^u
	}
	for i := 0; i < 8; i += 2 {
		s := (x[i]>>1 ^ x[i+1]) & ones
		x[i] ^= s << 1
		x[i+1] ^= s
	}
}
