package group

import "heddle/codec/bitslice"

// lanes is the memory of a tile all of whose rows are added, in the order of bitslice.Lanes.
type lanes struct {
	codes []bitslice.Lanes // by input
	ids   [bitslice.TileRows]uint32
	wide  [bitslice.TileRows]uint64
}

// allRows are the rows of a full tile.
var allRows = func() *bitslice.Set {
	var s bitslice.Set
	for g := range s {
		s[g] = ^uint64(0)
	}
	return &s
}()

// addLanes adds all rows of a full tile if the groups have places and all codes have lanes.
func (g *Groups) addLanes(tile int) bool {
	if g.keys != nil || len(g.by) == 0 {
		return false
	}
	if g.lanes == nil {
		g.lanes = &lanes{codes: make([]bitslice.Lanes, len(g.columns))}
	}
	l := g.lanes
	for i, c := range g.columns {
		valid := *allRows
		if c.WithValue(tile, &valid); !c.Counts() || valid != *allRows || !c.Lanes(tile, &l.codes[i]) {
			return false
		}
	}
	for k, n := range g.by {
		in := g.of.Groupings[k]
		l.number(&l.codes[in], n.of.Tile(tile).Min, g.sizes[k], k == 0)
	}
	ids := l.ids[:]
	g.rows.count(ids)
	for i, list := range g.values {
		if len(list) > 0 {
			g.values[i].count(ids)
		}
	}
	for i, c := range g.cells {
		if c == nil {
			continue
		}
		in := g.of.Measures[i].Input
		codes, least := &l.codes[in], g.columns[in].Tile(tile).Min
		if s, ok := c.(*sums); ok {
			s.addLanes(&l.ids, codes, least)
			continue
		}
		for w, x := range codes {
			to := (*[4]uint64)(l.wide[4*w:])
			to[0], to[1], to[2], to[3] = least+x&0xffff, least+x>>16&0xffff, least+x>>32&0xffff, least+x>>48
		}
		c.add(ids, l.wide[:])
	}
	return true
}

// number makes ids the keys of the groups of the columns so far: the key of the columns before, times size, plus the
// number of the code.
func (l *lanes) number(codes *bitslice.Lanes, least, size uint64, first bool) {
	add, times := uint32(least+1), uint32(size)
	if first {
		times = 0
	}
	for w, x := range codes {
		to := (*[4]uint32)(l.ids[4*w:])
		to[0] = to[0]*times + add + uint32(x&0xffff)
		to[1] = to[1]*times + add + uint32(x>>16&0xffff)
		to[2] = to[2]*times + add + uint32(x>>32&0xffff)
		to[3] = to[3]*times + add + uint32(x>>48)
	}
}

// addLanes adds codes less a minimum.
func (s *sums) addLanes(ids *[bitslice.TileRows]uint32, codes *bitslice.Lanes, least uint64) {
	list := s.list
	if s.weights == nil {
		for w, x := range codes {
			id := (*[4]uint32)(ids[4*w:])
			list[id[0]] += least + x&0xffff
			list[id[1]] += least + x>>16&0xffff
			list[id[2]] += least + x>>32&0xffff
			list[id[3]] += least + x>>48
		}
		return
	}
	weights := s.weights[least:]
	for w, x := range codes {
		id := (*[4]uint32)(ids[4*w:])
		list[id[0]] += weights[x&0xffff]
		list[id[1]] += weights[x>>16&0xffff]
		list[id[2]] += weights[x>>32&0xffff]
		list[id[3]] += weights[x>>48]
	}
}

// ofLanes is the sum of the weights of the codes of rows, which lack a minimum.
func (s *sums) ofLanes(codes *bitslice.Lanes, least uint64, rows *bitslice.Set) uint64 {
	var a, b, c, d uint64
	weights := s.weights[least:]
	for g, in := range rows {
		part := (*[16]uint64)(codes[16*g:])
		switch in {
		case 0:
		case ^uint64(0):
			for _, x := range part {
				a, b, c, d = a+weights[x&0xffff], b+weights[x>>16&0xffff], c+weights[x>>32&0xffff], d+weights[x>>48]
			}
		default: // without a branch for each row: -1 keeps the weight of a row, 0 drops it
			for i, x := range part {
				one := in >> (i & 63)
				a, b = a+weights[x&0xffff]&-(one&1), b+weights[x>>16&0xffff]&-(one>>16&1)
				c, d = c+weights[x>>32&0xffff]&-(one>>32&1), d+weights[x>>48]&-(one>>48&1)
			}
		}
	}
	return a + b + c + d
}
