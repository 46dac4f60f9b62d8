package bitmap

import (
	"fmt"
	"math"

	"heddle/cl/internal/device"
	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// Flags of an order in kernels/top.cl.
const (
	orderColumn = 1 << iota
	orderDescending
	orderMissingFirst
	orderMissingAbove
	orderMissingEqual
)

// order is a key of an order, and the units of rows of a pass.
type order struct {
	*plan.OrderKey // nil: none is left, rows are in their order
	column         bitslice.Column
	final          bool // no key follows
	parts          int  // of a tile
	each           int  // parts of a unit
	units          []unit
}

// unit is the rows of some parts of a tile: see kernels/top.cl.
type unit struct {
	key                uint64
	ties, values, rows uint32
}

// order is the first of some keys. A unit is a tile, or a part of it where the first k rows may lie in many tiles.
func (f *finding) order(keys []plan.OrderKey, k int) (*order, error) {
	o := &order{final: len(keys) < 2, parts: tileParts(f.store.rt.Tuning)}
	o.each = o.parts
	for tiles := bitslice.Tiles(f.store.t.Rows); o.each > 1 && tiles*o.parts/o.each < 4*k; {
		o.each /= 2
	}
	if len(keys) == 0 {
		return o, nil
	}
	var err error
	o.OrderKey = &keys[0]
	o.column, err = f.store.t.Codes(o.Column)
	return o, err
}

// tileParts is PARTS of kernels/slice.cl.
func tileParts(t device.Tuning) int {
	if t.Serial {
		return 16
	}
	return 32
}

// missing is the key of a row without a value.
func (o *order) missing() uint64 {
	if o.MissingFirst {
		return o.Last + 3
	}
	return 1
}

// key is the key of a code.
func (o *order) key(code uint64) uint64 {
	if o.Descending {
		return code + 2
	}
	return o.Last + 2 - min(code, o.Last)
}

// code is the code with a key; ok is false if there is none.
func (o *order) code(key uint64) (code uint64, ok bool) {
	if key < 2 || key-2 > o.Last {
		return 0, false
	}
	if o.Descending {
		return key - 2, true
	}
	return o.Last - (key - 2), true
}

// record is the order as the kernels have it, for rows_above with a bound.
func (o *order) record(bound *uint64) []uint32 {
	r := make([]uint32, 4, 12)
	put := func(lo, hi uint64) { r = append(r, uint32(lo), uint32(lo>>32), uint32(hi), uint32(hi>>32)) }
	flags := uint32(0)
	if o.OrderKey != nil {
		r[0], r[2], r[3] = o.Column, uint32(o.Last), uint32(o.Last>>32)
		flags = orderColumn
		if o.Descending {
			flags |= orderDescending
		}
		if o.MissingFirst {
			flags |= orderMissingFirst
		}
	}
	if bound == nil {
		r[1] = flags
		return r
	}
	none := [2]uint64{1, 0}
	above, equal := none, none
	switch {
	case o.OrderKey == nil:
		if *bound < 2 {
			flags |= orderMissingAbove
		}
	default:
		if m := o.missing(); m > *bound {
			flags |= orderMissingAbove
		} else if m == *bound {
			flags |= orderMissingEqual
		}
		if code, ok := o.code(*bound); ok {
			equal = [2]uint64{code, code}
			if o.Descending && code < math.MaxUint64 {
				above = [2]uint64{code + 1, math.MaxUint64}
			} else if !o.Descending && code > 0 {
				above = [2]uint64{0, code - 1}
			}
		} else if *bound < 2 {
			above = [2]uint64{0, math.MaxUint64}
		}
	}
	r[1] = flags
	put(above[0], above[1])
	put(equal[0], equal[1])
	return r
}

// bound is a key that at least k rows reach; 0 if that is not known of any.
func (o *order) bound(k int) uint64 {
	var all []weighted
	for i := range o.units {
		u := &o.units[i]
		if u.key == 0 {
			continue
		}
		all = append(all, weighted{u.key, u.ties})
		if u.values < u.rows && u.key != o.missing() {
			all = append(all, weighted{o.missing(), u.rows - u.values})
		}
	}
	bound := kth(all, uint64(k))
	if o.OrderKey == nil {
		return bound
	}
	all = all[:0] // a tile above the bound has all its values above its zone's least key
	for i := range o.units {
		u := &o.units[i]
		if u.key <= bound {
			continue
		}
		t := &o.column.Tiles[i*o.each/o.parts]
		least := o.key(t.Min)
		if !o.Descending {
			least = o.key(t.Max())
		}
		if least <= bound || u.key < least || u.key > o.Last+2 {
			all = append(all, weighted{u.key, u.ties})
		} else {
			all = append(all, weighted{least, u.values - u.ties}, weighted{u.key, u.ties})
		}
	}
	return max(bound, kth(all, uint64(k)))
}

// candidates are the units with rows above the bound and at it. Of units with rows at the bound alone, the first ones with k
// such rows are enough, unless all are wanted.
func (o *order) candidates(bound uint64, k int, tied bool) (list []uint32) {
	ties := 0
	for i := range o.units {
		switch u := &o.units[i]; {
		case u.key == 0 || u.key < bound:
		case u.key > bound:
			list = append(list, uint32(i))
		case !o.final || tied || ties < k:
			list = append(list, uint32(i))
			ties += int(u.ties)
		}
	}
	return list
}

// raised is a higher bound: the key of row k among some rows above the bound.
func (o *order) raised(rows []uint32, k int) uint64 {
	rows = rows[:min(len(rows), 4*k+bitslice.TileRows/4)]
	all := make([]weighted, len(rows))
	for i, row := range rows {
		all[i] = weighted{2, 1}
		if o.OrderKey == nil {
			continue
		}
		if code, ok := o.column.At(row); ok {
			all[i].key = o.key(code)
		} else {
			all[i].key = o.missing()
		}
	}
	return kth(all, uint64(k))
}

// at restricts a selection to the rows with a key.
func (o *order) at(t *plan.Table, sel *plan.SelectBatch, key uint64) (*plan.SelectBatch, error) {
	next := new(plan.SelectBatch)
	next.Copy(sel, sel.Selection(0))
	if o.OrderKey != nil {
		if code, ok := o.code(key); ok {
			next.Check(o.Column, plan.CodeRange{Lo: code, Hi: code})
		} else {
			next.Do(plan.StepAll)
			next.Check(o.Column, plan.CodeRange{Hi: math.MaxUint64})
			next.Do(plan.StepAndNot)
		}
	}
	next.End()
	if err := next.Validate(t); err != nil {
		return nil, fmt.Errorf("%w: %w", plan.ErrUnsupported, err)
	}
	return next, nil
}

// weighted is a key that so many rows reach.
type weighted struct {
	key  uint64
	rows uint32
}

// kth is the greatest key such that keys from it on have k rows; 0 if all have fewer. It changes the order of the keys.
func kth(all []weighted, k uint64) uint64 {
	for len(all) > 0 {
		a, b, c := all[0].key, all[len(all)/2].key, all[len(all)-1].key
		pivot := max(min(a, b), min(max(a, b), c))
		above, equal := uint64(0), uint64(0)
		from, to := 0, len(all) // keys above the pivot come before from, keys below it from to on
		for i := 0; i < to; {
			switch x := all[i]; {
			case x.key > pivot:
				all[i], all[from] = all[from], x
				above += uint64(x.rows)
				from++
				i++
			case x.key == pivot:
				equal += uint64(x.rows)
				i++
			default:
				to--
				all[i], all[to] = all[to], x
			}
		}
		switch {
		case k <= above:
			all = all[:from]
		case k <= above+equal:
			return pivot
		default:
			k -= above + equal
			all = all[to:]
		}
	}
	return 0
}
