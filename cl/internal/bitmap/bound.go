package bitmap

import (
	"slices"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// bound is a key that at least k rows reach; 0 if that is not known of any.
func (o *order) bound(k int) uint64 {
	l := newLeaders(k)
	for i := range o.units {
		u := &o.units[i]
		if key := u.key(); key > 0 {
			l.add(key, u.ties())
		}
		if u.values() < u.rows && o.OrderKey != nil && u.key() != o.missing() {
			l.add(o.missing(), u.rows-u.values())
		}
	}
	bound := l.end()
	if o.OrderKey == nil {
		return bound
	}
	l = newLeaders(k)
	l.bound = bound
	for i := range o.units { // a tile above the bound has all its values from its zone's least key on
		u := &o.units[i]
		if u.key() <= bound {
			continue
		}
		l.add(u.key(), u.ties())
		t := &o.tiles[i*o.each/o.parts]
		least := o.key(t.Min)
		if !o.Descending {
			least = o.key(t.Max())
		}
		if least <= u.key() && u.key() <= o.Last+2 {
			l.add(least, u.values()-u.ties())
		}
	}
	return l.end()
}

// candidates are the units with rows above the bound and at it. Of units with rows at the bound alone, the first ones with k
// such rows are enough, unless all are wanted. They are left out where a further key has to choose from their rows, because
// there is no room for them: crowded.
func (o *order) candidates(bound uint64, k, room int, tied bool) (list []uint32, crowded bool) {
	ties := 0
	if !o.final {
		for i := range o.units {
			if u := &o.units[i]; u.key() == bound && bound > 0 {
				ties += int(u.ties())
			}
		}
	}
	crowded = ties > room
	for i := range o.units {
		switch u := &o.units[i]; {
		case u.key() == 0 || u.key() < bound:
		case u.key() > bound:
			list = append(list, uint32(i))
		case !crowded && (!o.final || tied || ties < k):
			list = append(list, uint32(i))
			ties += int(u.ties())
		}
	}
	return list, crowded
}

// raised is a higher bound: the key of row k among some rows above the bound.
func (o *order) raised(t *plan.Table, rows []uint32, k int) (uint64, error) {
	if o.OrderKey == nil {
		return 2, nil
	}
	codes, err := t.Codes(o.Column)
	if err != nil {
		return 0, err
	}
	l := newLeaders(k)
	for _, row := range rows[:min(len(rows), 4*k+bitslice.TileRows/4)] {
		if code, ok := codes.At(row); ok {
			l.add(o.key(code), 1)
		} else {
			l.add(o.missing(), 1)
		}
	}
	return l.end(), nil
}

// leaders finds the greatest key that k rows reach.
type leaders struct {
	k     int
	bound uint64     // k rows reach it, unless it is 0
	all   []weighted // keys above it
}

func newLeaders(k int) *leaders { return &leaders{k: k, all: make([]weighted, 0, 2*k+64)} }

// add adds a key of some rows.
func (l *leaders) add(key uint64, rows uint32) {
	if key <= l.bound || rows == 0 {
		return
	}
	if l.all = append(l.all, weighted{key, rows}); len(l.all) == cap(l.all) {
		l.end()
	}
}

// end returns the key, and keeps the keys above it.
func (l *leaders) end() uint64 {
	l.bound = max(l.bound, kth(l.all, uint64(l.k)))
	l.all = slices.DeleteFunc(l.all, func(x weighted) bool { return x.key <= l.bound })
	return l.bound
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
