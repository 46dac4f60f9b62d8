package group

import (
	"math/bits"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/table/gather"
)

const (
	tileSegments = bitslice.TileRows / bitslice.SegmentRows
	// leastDense is the mean number of rows of a tile from which on rows are added tile by tile.
	leastDense = 24
	// leastTile is the number of rows of a tile from which on reading its slices costs less than reading the rows.
	leastTile = 128
	// leastDecoded is the number of rows from which on decoding the tile costs less.
	leastDecoded = 1024
	// rowsPerSegment is the number of rows that are read bit by bit as fast as a segment is decoded.
	rowsPerSegment = 12
)

// tileCells are cells that add the rows of a tile from its slices, without codes of rows.
type tileCells interface {
	// addTile adds rows with a value to group id. It returns false for a code above the last one of the column.
	addTile(id uint32, of *gather.Column, tile int, rows *bitslice.Set) bool
}

// takesTiles tells whether all measures can be added from slices.
func (g *Groups) takesTiles() bool {
	for i, c := range g.cells {
		if in := g.columns[g.of.Measures[i].Input]; c == nil && !in.Multivalued() {
			continue
		} else if _, ok := c.(tileCells); !ok || !in.Counts() {
			return false
		}
	}
	for _, n := range g.by {
		if !n.of.Counts() {
			return false
		}
	}
	return true
}

// addDense adds the rows of a tile, unless they are few. slices tells that all measures can be added from slices.
func (g *Groups) addDense(set []uint64, tile int, slices bool) (added bool, err error) {
	rows := &g.inTile
	clear(rows[copy(rows[:], set[tile*bitslice.TileWords:]):])
	switch n := count(rows); {
	case n == 0 || slices && n >= leastTile && g.addTile(rows, n, tile):
		return true, nil
	case n == bitslice.TileRows && g.addLanes(tile):
		return true, nil
	case n < leastDecoded && !few(rows, n):
		return false, nil
	}
	g.in.FillTile(set, tile)
	return true, g.add()
}

// few tells whether reading n rows of a tile bit by bit takes less time than decoding the segments that they lie in.
func few(rows *bitslice.Set, n uint64) bool {
	segments := uint64(0)
	for g := 0; g < bitslice.TileWords; g += bitslice.SegmentRows / 64 {
		if rows[g]|rows[g+1] != 0 {
			segments++
		}
	}
	return n <= min(gather.FewRows, segments*rowsPerSegment)
}

// addTile adds n rows of a tile from its slices, if they are in one group. Otherwise it returns false.
func (g *Groups) addTile(rows *bitslice.Set, n uint64, tile int) bool {
	var numbers [plan.MaxGroupings]uint64
	for k, by := range g.by {
		var ok bool
		if numbers[k], ok = by.ofTile(tile, rows); !ok {
			return false
		}
	}
	key := g.key(&numbers)
	id := uint32(key)
	if g.keys != nil {
		id = g.keys.id(key)
		g.grow(len(g.keys.keys))
	}
	valid := &g.valued
	for k, c := range g.columns {
		*valid = *rows
		c.WithValue(tile, valid)
		for i, cells := range g.cells {
			if cells != nil && g.of.Measures[i].Input == k && !cells.(tileCells).addTile(id, c, tile, valid) {
				return false
			}
		}
	}
	g.rows[id] += n
	for k, list := range g.values {
		if len(list) > 0 {
			*valid = *rows
			g.columns[k].WithValue(tile, valid)
			list[id] += count(valid)
		}
	}
	return true
}

// ofTile is the number of the code of rows of a tile, if they all have the same.
func (n *numbers) ofTile(tile int, rows *bitslice.Set) (number uint64, ok bool) {
	valid := *rows
	n.of.WithValue(tile, &valid)
	switch t := n.of.Tile(tile); {
	case count(&valid) == 0:
		return 0, true
	case t.Width > 0 || valid != *rows || t.Min > n.of.Last():
		return 0, false
	default:
		return uint64(n.number(t.Min)), true
	}
}

func count(rows *bitslice.Set) (n uint64) {
	for _, w := range rows {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}

func (s *sums) addTile(id uint32, of *gather.Column, tile int, rows *bitslice.Set) bool {
	if s.weights == nil {
		_, low := of.Tiles().Sum(tile, rows)
		s.list[id] += low
		return true
	}
	return s.addWeights(id, of, tile, rows)
}

// addWeights is addTile for weights, which belong to decoded codes.
func (s *sums) addWeights(id uint32, of *gather.Column, tile int, rows *bitslice.Set) bool {
	if lanes := new(bitslice.Lanes); of.Lanes(tile, lanes) {
		s.list[id] += s.ofLanes(lanes, of.Tile(tile).Min, rows)
		return true
	}
	var codes [bitslice.TileRows]uint64
	of.Tiles().Decode(tile, &codes)
	sum, last := uint64(0), uint64(len(s.weights)-1)
	for g, w := range rows {
		part := (*[64]uint64)(codes[64*g:])
		for ; w != 0; w &= w - 1 {
			code := part[bits.TrailingZeros64(w)]
			if code > last {
				return false
			}
			sum += s.weights[code]
		}
	}
	s.list[id] += sum
	return true
}

func (s *least) addTile(id uint32, of *gather.Column, tile int, rows *bitslice.Set) bool {
	code, ok := of.Tiles().Least(tile, rows, ^s.list[id])
	if ok && code <= of.Last() {
		s.list[id] = ^code
	}
	return !ok || code <= of.Last()
}

func (s *greatest) addTile(id uint32, of *gather.Column, tile int, rows *bitslice.Set) bool {
	if s.list[id] == of.Last() {
		return true
	}
	code, ok := of.Tiles().Greatest(tile, rows, s.list[id])
	if ok && code <= of.Last() {
		s.list[id] = code
	}
	return !ok || code <= of.Last()
}
