package bitslice

// Lanes are codes of 16 bits, four a word: bits 16l to 16l+15 of word 16g+i have row 64g+16l+i of a tile.
type Lanes [TileRows / 4]uint64

// Lanes writes the codes of a tile, less its minimum. A row without a value, or behind the last row, has any code. It
// returns false for codes of more than 16 bits, and if one, of any row, is above last. It takes less time than Decode: for
// what does not depend on the order of rows.
func (c Column) Lanes(tile int, last uint64, to *Lanes) bool {
	t := &c.Tiles[tile]
	if t.Width > 16 || t.Min > last {
		return false
	}
	t.lanes(c.words(t), to)
	if t.Max() <= last {
		return true
	}
	if t.Width == 16 {
		const every, carry = 0x0000ffff0000ffff, 0x0001000000010000
		above, by := uint64(0), (0xffff-(last-t.Min))*0x0000000100000001 // the sum with a code above last - Min carries
		for _, x := range to {
			above |= (x&every + by) | (x>>16&every + by)
		}
		return above&carry == 0
	}
	const each, top = 0x0001000100010001, 0x8000800080008000
	above, by := uint64(0), (0x7fff-(last-t.Min))*each // the sum with a code above last - Min reaches the top bit
	for _, x := range to {
		above |= x + by
	}
	return above&top == 0
}

func (t *Tile) lanes(words []uint32, to *Lanes) {
	var buf, p = [16]pairs{}, [16]*pairs{} // the lowest slice first
	for j := range p {
		if p[j] = allZeros; j < int(t.Width) {
			p[j] = t.slice(words, t.slices()-1-j, &buf[j])
		}
	}
	for g := range TileWords { // every second byte of two slices, eight apart, then of the rest
		a0, a1, a2, a3, a4, a5, a6, a7 := p[0].word(g), p[1].word(g), p[2].word(g), p[3].word(g), p[4].word(g), p[5].word(g), p[6].word(g), p[7].word(g)
		b0, b1, b2, b3, b4, b5, b6, b7 := p[8].word(g), p[9].word(g), p[10].word(g), p[11].word(g), p[12].word(g), p[13].word(g), p[14].word(g), p[15].word(g)
		x := (*[16]uint64)(to[16*g:])
		x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] = bytesOf(a0&evens|b0&evens<<8, a1&evens|b1&evens<<8, a2&evens|b2&evens<<8, a3&evens|b3&evens<<8,
			a4&evens|b4&evens<<8, a5&evens|b5&evens<<8, a6&evens|b6&evens<<8, a7&evens|b7&evens<<8)
		x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15] = bytesOf(a0>>8&evens|b0&^evens, a1>>8&evens|b1&^evens, a2>>8&evens|b2&^evens, a3>>8&evens|b3&^evens,
			a4>>8&evens|b4&^evens, a5>>8&evens|b5&^evens, a6>>8&evens|b6&^evens, a7>>8&evens|b7&^evens)
	}
}
