package bitmap

import "heddle/codec/bitslice"

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
