package group

import (
	"math"
	"math/bits"
	"slices"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/table/exact"
	"heddle/engine/table/gather"
)

// Groups are groups of rows with their measures. Methods with a group i take numbers from 0
// to Len-1, in the order of the codes; rows without a value come last.
type Groups struct {
	of      *plan.Aggregation
	columns []*gather.Column
	by      []*numbers // code numbers of the columns of Groupings
	keys    *table     // keys of the groups; nil: the key of a group is its place
	sizes   []uint64   // a key is the key of the columns before · size + number, by column
	folds   []*table   // numbers the keys of the columns before, where keys would have more than 64 bits; else nil
	places  int        // number of places of groups, without keys
	rows    counts
	values  []counts // rows with a value, by input; empty where all rows have one
	cells   []cells  // by measure; nil for MeasureCount
	order   []uint32 // places of the groups

	reader gather.Reader
	in     gather.Batch
	lists  lists
	lanes  *lanes     // nil before the first tile that needs them
	batch  [][]uint64 // codes of the rows of in, by input
	// Memory for a tile and for a batch.
	inTile, valued bitslice.Set
	ids, validIDs  []uint32
	keys64, valid  []uint64
}

// mostPlaces is the greatest number of places of groups of many rows.
const mostPlaces = 1 << 22

// newGroups returns groups of selected rows without room for any. Groups have places if these are few, or few beside
// the rows.
func newGroups(a *plan.Aggregation, columns []*gather.Column, rows uint32, selected int, windows []exact.Window) *Groups {
	g := &Groups{of: a, columns: columns}
	places, product := uint64(1), uint64(1)
	for _, i := range a.Groupings {
		n := newNumbers(columns[i])
		size, fold := n.size(), (*table)(nil)
		high, low := bits.Mul64(product, size)
		if product = low; high > 0 {
			product, fold = math.MaxUint64, new(table)
		}
		g.by, g.sizes, g.folds = append(g.by, n), append(g.sizes, size), append(g.folds, fold)
		places = min(places*min(size, mostPlaces+1), mostPlaces+1)
	}
	for i := range a.Measures {
		m := &a.Measures[i]
		var window exact.Window
		if windows != nil {
			window = windows[i]
		}
		values := rows
		if columns[m.Input].Multivalued() {
			values = math.MaxUint32
		}
		g.cells = append(g.cells, newCells(m, columns[m.Input], values, window))
	}
	g.values = make([]counts, len(columns))
	if places <= max(plan.Dense, min(mostPlaces, 2*uint64(selected))) {
		g.places = int(places)
	} else {
		g.keys = new(table)
	}
	for _, c := range g.cells {
		if c, ok := c.(*codes); ok {
			c.makeRoom(g.places, uint64(selected))
		}
	}
	return g
}

// key is the key of the numbers of a group.
func (g *Groups) key(of *[plan.MaxGroupings]uint64) (key uint64) {
	for k, size := range g.sizes {
		if g.folds[k] != nil {
			key = uint64(g.folds[k].id(key))
		}
		key = key*size + of[k]
	}
	return key
}

// numbers are the numbers of the group with a key.
func (g *Groups) numbers(key uint64) (of [plan.MaxGroupings]uint64) {
	for k, size := range slices.Backward(g.sizes) {
		if of[k], key = key%size, key/size; g.folds[k] != nil {
			key = g.folds[k].keys[key]
		}
	}
	return of
}

// grow makes room for groups.
func (g *Groups) grow(groups int) {
	if groups <= len(g.rows) {
		return
	}
	g.rows.grow(groups)
	for i := range g.values {
		if g.columns[i].HasMissing() || g.measured(i) {
			g.values[i].grow(groups)
		}
	}
	for _, c := range g.cells {
		if c != nil {
			c.grow(groups)
		}
	}
}
