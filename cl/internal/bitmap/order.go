package bitmap

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

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
	tiles          []bitslice.Tile
	final          bool // no key follows
	parts          int  // of a tile
	each           int  // parts of a unit
	units          []unit
}

// unit is the rows of some parts of a tile, as kernels/top.cl has it.
type unit struct{ low, high, counts, rows uint32 }

func (u *unit) key() uint64    { return uint64(u.low) | uint64(u.high)<<32 }
func (u *unit) ties() uint32   { return u.counts & 0xffff }
func (u *unit) values() uint32 { return u.counts >> 16 }

// order is the first of some keys. A unit is a tile, or a part of it where the first k rows may lie in many tiles.
func (f *finding) order(keys []plan.OrderKey, k int) *order {
	o := &order{final: len(keys) < 2, parts: tileParts(f.store.rt.Tuning)}
	o.each = o.parts
	for tiles := bitslice.Tiles(f.store.t.Rows); o.each > 1 && tiles*o.parts/o.each < 4*k; {
		o.each /= 2
	}
	if len(keys) > 0 {
		o.OrderKey = &keys[0]
		o.tiles = f.store.t.Columns[o.Column].Tiles
	}
	return o
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

// topKey is the key of the self-test of best_keys and rows_above.
type topKey struct{}

// selfTestTop finds first rows on first use: by wide codes, which some rows lack, and by few codes and a second key.
func selfTestTop(ctx context.Context, rt *device.Runtime) error {
	return device.TestOnce(ctx, rt, []topKey{{}}, func([]topKey) error {
		t, plain, err := sampleTable(30_000, 32)
		columns, failed := sampleColumns(t, plain, 2)
		if err = cmp.Or(err, failed); err != nil {
			return rt.FailedTest("preparing: %w", err)
		}
		s, err := load(ctx, rt, t)
		if err != nil {
			return err
		}
		defer s.Close()
		wide := plan.OrderKey{Last: 3 << 32, Descending: true}
		few := plan.OrderKey{Column: columns[0].Column, Last: 2}
		for _, keys := range [][]plan.OrderKey{{wide}, {few}, {few, wide}} {
			var sel plan.SelectBatch
			sel.Do(plan.StepAll)
			sel.Check(few.Column, plan.CodeRange{Lo: 1, Hi: 2})
			sel.End()
			o := &plan.Order{Keys: keys, K: 20}
			got, err := s.first(ctx, &sel, nil, o)
			if err != nil {
				return err
			}
			for _, row := range plain.First(&sel, o) {
				if !slices.Contains(got.Rows, row) {
					return rt.FailedTest("the first rows by %d keys lack row %d", len(keys), row)
				}
			}
		}
		return nil
	})
}
