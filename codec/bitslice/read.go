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

// Some writes the codes of some rows of a tile, which are few. A row without a value has the code Min of the tile.
func (c Column) Some(tile int, rows []uint16, codes []uint64) {
	t := &c.Tiles[tile]
	words, codes := c.words(t), codes[:len(rows)]
	clear(codes)
	var buf pairs
	for i := t.slices() - int(t.Width); i < t.slices(); i++ {
		p := t.slice(words, i, &buf)
		for k, row := range rows {
			codes[k] = codes[k]<<1 | uint64(p[row/64%TileWords][row/32%2]>>(row%32)&1)
		}
	}
	for k := range codes {
		codes[k] += t.Min
	}
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
	if t.Width == 0 {
		for i := range codes {
			codes[i] = t.Min
		}
	}
	words, last := c.words(t), t.slices()-1
	var buf [16]pairs
	for low := 0; low < int(t.Width); low += 16 { // sixteen slices at a time
		n := min(16, int(t.Width)-low)
		p := [16]*pairs{}
		for j := range p {
			if p[j] = allZeros; j < n {
				p[j] = t.slice(words, last-low-j, &buf[j])
			}
		}
		for g := range TileWords {
			to := (*[64]uint64)(codes[64*g:])
			var low8, high8 [8]uint64
			low8[0], low8[1], low8[2], low8[3], low8[4], low8[5], low8[6], low8[7] = bytesOf(p[0].word(g), p[1].word(g), p[2].word(g), p[3].word(g), p[4].word(g), p[5].word(g), p[6].word(g), p[7].word(g))
			if n > 8 {
				high8[0], high8[1], high8[2], high8[3], high8[4], high8[5], high8[6], high8[7] = bytesOf(p[8].word(g), p[9].word(g), p[10].word(g), p[11].word(g), p[12].word(g), p[13].word(g), p[14].word(g), p[15].word(g))
			}
			if low == 0 {
				put(to, t.Min, &low8, &high8)
			} else {
				add(to, low, &low8, &high8)
			}
		}
	}
	return t.Rows()
}

// Segments is the number of segments of c, ranges of SegmentRows rows.
func (c Column) Segments() int { return (int(c.Rows) + SegmentRows - 1) / SegmentRows }

// Segment writes the codes of a segment and returns the number of its rows. A row without a value has the
// code Min of its tile. Codes behind the last row are arbitrary.
func (c Column) Segment(i int, codes *[SegmentRows]uint64) int {
	t := &c.Tiles[i/(TileRows/SegmentRows)]
	words, part := c.words(t), i%(TileRows/SegmentRows)
	if t.Width == 0 {
		for k := range codes {
			codes[k] = t.Min
		}
	}
	last := t.slices() - 1
	for low := 0; low < int(t.Width); low += 16 { // sixteen slices at a time
		var x [16][2]uint64
		n := min(16, int(t.Width)-low)
		for j := range n {
			x[j] = t.part(words, last-low-j, part)
		}
		for half := range 2 {
			to := (*[64]uint64)(codes[64*half:])
			var low8, high8 [8]uint64
			low8[0], low8[1], low8[2], low8[3], low8[4], low8[5], low8[6], low8[7] = bytesOf(x[0][half], x[1][half], x[2][half], x[3][half], x[4][half], x[5][half], x[6][half], x[7][half])
			if n > 8 {
				high8[0], high8[1], high8[2], high8[3], high8[4], high8[5], high8[6], high8[7] = bytesOf(x[8][half], x[9][half], x[10][half], x[11][half], x[12][half], x[13][half], x[14][half], x[15][half])
			}
			if low == 0 {
				put(to, t.Min, &low8, &high8)
			} else {
				add(to, low, &low8, &high8)
			}
		}
	}
	return min(SegmentRows, t.Rows()-part*SegmentRows)
}

// Present returns the rows of a segment that have a value. Bits behind the last row are arbitrary.
func (c Column) Present(segment int) [2]uint64 {
	t := &c.Tiles[segment/(TileRows/SegmentRows)]
	if t.Flags&FlagMissing == 0 {
		return [2]uint64{^uint64(0), ^uint64(0)}
	}
	return t.part(c.words(t), 0, segment%(TileRows/SegmentRows))
}

// part returns the 128 rows of a segment of slice i, counted from the start of the tile.
func (t *Tile) part(words []uint32, i, segment int) (rows [2]uint64) {
	f, at := t.entry(words, i)
	switch f {
	case plain:
		w := (*[4]uint32)(words[at+4*segment:])
		return [2]uint64{uint64(w[0]) | uint64(w[1])<<32, uint64(w[2]) | uint64(w[3])<<32}
	case ones:
		return [2]uint64{^uint64(0), ^uint64(0)}
	case sparse:
		part, first := words[at:], segment*SegmentRows
		n := int(part[0] & sparseCount)
		for k := sort.Search(n, func(k int) bool { return int(half(part, k+1)) >= first }); k < n; k++ {
			row := int(half(part, k+1)) - first
			if row >= SegmentRows {
				break
			}
			rows[row/64%2] |= 1 << (row % 64)
		}
		if part[0]&sparseBit == 0 {
			rows[0], rows[1] = ^rows[0], ^rows[1]
		}
	}
	return rows
}

// bytesOf transposes eight slices of 64 rows: byte b of result i has the bits of row 8b+i, slice j in bit j.
func bytesOf(a, b, c, d, e, f, g, h uint64) (_, _, _, _, _, _, _, _ uint64) {
	const fours, twos, ones = 0x0f0f0f0f0f0f0f0f, 0x3333333333333333, 0x5555555555555555
	s, t, u, v := (a>>4^e)&fours, (b>>4^f)&fours, (c>>4^g)&fours, (d>>4^h)&fours
	a, b, c, d, e, f, g, h = a^s<<4, b^t<<4, c^u<<4, d^v<<4, e^s, f^t, g^u, h^v
	s, t, u, v = (a>>2^c)&twos, (b>>2^d)&twos, (e>>2^g)&twos, (f>>2^h)&twos
	a, b, c, d, e, f, g, h = a^s<<2, b^t<<2, c^s, d^t, e^u<<2, f^v<<2, g^u, h^v
	s, t, u, v = (a>>1^b)&ones, (c>>1^d)&ones, (e>>1^f)&ones, (g>>1^h)&ones
	return a ^ s<<1, b ^ s, c ^ t<<1, d ^ t, e ^ u<<1, f ^ u, g ^ v<<1, h ^ v
}

// evens selects every second byte.
const evens = 0x00ff00ff00ff00ff

// put sets code 8b+i to least plus byte b of the i-th of eight words of low bytes, and of high bytes.
func put(to *[64]uint64, least uint64, low, high *[8]uint64) {
	for i, x := range low {
		even, odd := x&evens|high[i]&evens<<8, x>>8&evens|high[i]&^evens
		to[i], to[i+8], to[i+16], to[i+24] = least+even&0xffff, least+odd&0xffff, least+even>>16&0xffff, least+odd>>16&0xffff
		to[i+32], to[i+40], to[i+48], to[i+56] = least+even>>32&0xffff, least+odd>>32&0xffff, least+even>>48, least+odd>>48
	}
}

// add adds what put sets, without least, shifted.
func add(to *[64]uint64, shift int, low, high *[8]uint64) {
	for i, x := range low {
		even, odd := (x&evens | high[i]&evens<<8), (x>>8&evens | high[i]&^evens)
		to[i] += even & 0xffff << (shift & 63)
		to[i+8] += odd & 0xffff << (shift & 63)
		to[i+16] += even >> 16 & 0xffff << (shift & 63)
		to[i+24] += odd >> 16 & 0xffff << (shift & 63)
		to[i+32] += even >> 32 & 0xffff << (shift & 63)
		to[i+40] += odd >> 32 & 0xffff << (shift & 63)
		to[i+48] += even >> 48 << (shift & 63)
		to[i+56] += odd >> 48 << (shift & 63)
	}
}
