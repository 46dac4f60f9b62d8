package bitmap

import (
	"math"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/bitmap/codeset"
	"heddle/hostfallback/internal/bitmap/sketch"
)

// sketches are the sketches of one column, tile by tile. The second comparison of most rows of
// a tile makes its sketches for later comparisons, as far as memory allows.
type sketches struct {
	slots atomic.Pointer[sketch.Map]
	tiles []atomic.Pointer[sketched]
}

// sketched is the sketches of a tile, and the bounds of its codes.
type sketched struct {
	groups          []sketch.Group
	least, greatest uint64
}

// among tells whether the codes of all rows of a tile, or of none, lie in ranges, by the bounds
// alone. A tile of a sorted or clustered column has few codes.
func (s *sketched) among(ranges []plan.CodeRange) content {
	i := codeset.Index(ranges, s.least)
	switch {
	case i == len(ranges) || ranges[i].Lo > s.greatest:
		return none
	case ranges[i].Lo <= s.least && s.greatest <= ranges[i].Hi:
		return all
	}
	return some
}

// sampleSegments is the number of segments in the sample of a column.
const sampleSegments = 64

// compared is the state of a tile behind the first comparison: no sketches yet.
var compared sketched

// sketchesOf returns the sketches of a tile, or nil.
func (t *Table) sketchesOf(column uint32, tile int) *sketched {
	if made := t.sketches[column].tiles[tile].Load(); made != &compared {
		return made
	}
	return nil
}

// shortBits is the number of bits of a stored code, up to which reading codes costs as little as
// reading sketches: region = 77 on 20 M rows with codes of 9 bits takes 1.3 times as long with sketches.
const shortBits = 12

// noteCompared makes the sketches of a tile in which a number of rows have been compared, if sketches will save
// time. words is the number of words of the codes of the tile.
func (t *Table) noteCompared(column uint32, tile, rows, words int) error {
	all := t.tile.rowsOf(tile)
	if uint64(rows) < all/16 || 32*int64(words) <= shortBits*int64(all) { // single codes are read, or short ones
		return nil
	}
	at := &t.sketches[column].tiles[tile]
	if at.CompareAndSwap(nil, &compared) {
		return nil
	}
	groups := t.tile.words(tile)
	size := int64(groups) * 64
	if !t.work.Memory.Take(size) {
		return nil
	}
	made, err := t.sketch(column, tile, groups)
	if err != nil || !at.CompareAndSwap(&compared, made) { // another batch was faster
		t.work.Memory.Return(size)
	}
	return err
}

// sketch makes the sketches of a tile.
func (t *Table) sketch(column uint32, tile, groups int) (*sketched, error) {
	slots, err := t.slots(column)
	if err != nil {
		return nil, err
	}
	first := tile * int(t.tile.tileRows/codec.SegmentLen)
	made := &sketched{groups: make([]sketch.Group, groups), least: math.MaxUint64}
	var c codes
	err = t.decode(&c, column, first, first+(groups+1)/2, 1, func(i int, low, high []uint32) {
		for k, code := range low {
			x := uint64(code)
			if len(high) > 0 {
				x |= uint64(high[k]) << 32
			}
			made.least, made.greatest = min(made.least, x), max(made.greatest, x)
		}
		for k := 0; k < len(low); k += 64 {
			end := min(k+64, len(low))
			if len(high) > 0 {
				slots.Put(&made.groups[2*i+k/64], low[k:end], high[k:end])
			} else {
				slots.Put(&made.groups[2*i+k/64], low[k:end], nil)
			}
		}
	})
	return made, err
}

// slots returns the map of a column, which the first caller makes from a sample.
func (t *Table) slots(column uint32) (*sketch.Map, error) {
	at := &t.sketches[column].slots
	if m := at.Load(); m != nil {
		return m, nil
	}
	all := (int(t.tile.rows) + codec.SegmentLen - 1) / codec.SegmentLen
	var sample []uint64
	var c codes
	err := t.decode(&c, column, 0, all, max(1, all/sampleSegments), func(_ int, low, high []uint32) {
		for i, code := range low {
			sample = append(sample, uint64(code))
			if len(high) > 0 {
				sample[len(sample)-1] |= uint64(high[i]) << 32
			}
		}
	})
	if err != nil {
		return nil, err
	}
	m := sketch.NewMap(sample)
	if !at.CompareAndSwap(nil, m) {
		m = at.Load()
	}
	return m, nil
}

// decode calls f with the codes of segments from, from+step and so on before end, in two
// halves; high is empty for codes of 32 bits.
func (t *Table) decode(c *codes, column uint32, from, end, step int, f func(i int, low, high []uint32)) error {
	for i := 0; from+i < end; i += step {
		low, high, err := t.data.Segments(column, from+i, from+i+1)
		if err != nil {
			return err
		}
		n, err := low.Decode(from+i, &c.low)
		wide := 0
		if err == nil && high.Len > 0 {
			wide, err = high.Decode(from+i, &c.high)
		}
		if err != nil {
			return err
		}
		f(i, c.low[:n], c.high[:wide])
	}
	return nil
}

// sift moves rows of the set of a tile to w.kept, if their sketches show that their codes lie
// in one of the ranges, and removes the rows whose codes lie in none. The rest needs a
// comparison.
func (w *worker) sift(m *sketch.Map, groups []sketch.Group, ranges []plan.CodeRange, set []uint64) {
	kept, compare := w.kept[:len(set)], w.compare[:len(set)]
	clear(kept)
	clear(compare)
	for _, r := range ranges {
		x := m.Range(r)
		x.Find(groups, set, kept, compare)
	}
	for i := range set {
		set[i] = compare[i] &^ kept[i]
	}
}
