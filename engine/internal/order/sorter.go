package order

import (
	"cmp"
	"context"
	"slices"

	table "heddle/engine/table/values"
)

// values are the values of a column in documents.
type values struct{ *table.Column }

// key is the key of a value, which does not depend on the way in which the table of a part stores the column.
func (c values) key(i int) uint64 { return c.UnscaledKey(c.Codes[i]) }

// value returns the value of document i in the order that all parts share.
func (c values) value(i int) (v Value) {
	switch v.Missing = c.Null(i); {
	case v.Missing:
	case c.Type.HasDictionary():
		v.Text = []byte(c.Dictionary[c.key(i)])
	default:
		v.Number = c.key(i)
	}
	return v
}

// sorter chooses the first of some documents in an order.
type sorter struct {
	*Spec
	docs    []uint32
	scores  []float64 // nil: the order does not depend on them
	columns []values  // by key that is no score
	group   *values   // of Collapse; nil: none
	first   uint64
}

// place sets p to the place of document i.
func (x *sorter) place(i int, p *Place) {
	p.Doc, p.Values = x.first+uint64(x.docs[i]), p.Values[:0]
	if x.scores != nil {
		p.Score = x.scores[i]
	}
	for _, c := range x.columns {
		p.Values = append(p.Values, c.value(i))
	}
	if x.group != nil {
		p.Group = x.group.value(i)
	}
}

// compare compares two documents in the order.
func (x *sorter) compare(i, j int) int {
	column := 0
	for _, k := range x.keys() {
		c := 0
		if k.Column == "" {
			c = cmp.Compare(x.scores[i], x.scores[j])
		} else {
			of := x.columns[column]
			column++
			if a, b := of.Null(i), of.Null(j); a || b {
				if a != b {
					return number(a) - number(b)
				}
				continue
			}
			c = of.Compare(i, j)
		}
		if c != 0 {
			if k.Descending {
				return -c
			}
			return c
		}
	}
	return cmp.Compare(x.docs[i], x.docs[j])
}

// perLook is the number of documents after which the end of the time is looked for.
const perLook = 1 << 16

// groups returns the first Most documents of each value, in the order: by code, and of documents without a value.
func (x *sorter) groups(ctx context.Context) (of map[uint64][]int, missing []int, err error) {
	of = map[uint64][]int{}
	add := func(all []int, i int) []int {
		n := len(all)
		if n == x.Most && x.compare(i, all[n-1]) > 0 {
			return all
		}
		at, _ := slices.BinarySearchFunc(all, i, x.compare)
		if n < x.Most {
			return slices.Insert(all, at, i)
		}
		copy(all[at+1:], all[at:])
		all[at] = i
		return all
	}
	for i := range x.docs {
		if i%perLook == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if x.group.Null(i) {
			missing = add(missing, i)
			continue
		}
		code := x.group.Codes[i]
		of[code] = add(of[code], i)
	}
	return of, missing, nil
}

// collapsed returns the first documents of all values, in any order.
func (x *sorter) collapsed(ctx context.Context) ([]int, error) {
	of, at, err := x.groups(ctx)
	for _, group := range of {
		at = append(at, group...)
	}
	return at, err
}

// seen returns the number of documents up to After of each of some values, at most Most.
func (x *sorter) seen(ctx context.Context, all []Value) ([]uint32, error) {
	of, missing, err := x.groups(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]uint32{}
	var p Place
	count := func(group []int) {
		n := uint32(0)
		for _, i := range group {
			if x.place(i, &p); x.Compare(&p, x.After) > 0 {
				break
			}
			n++
		}
		if n > 0 {
			found[p.Group.Key()] = n
		}
	}
	count(missing)
	for _, group := range of {
		count(group)
	}
	out := make([]uint32, len(all))
	for i, v := range all {
		out[i] = found[v.Key()]
	}
	return out, nil
}

// best returns the first k documents behind After.
func (x *sorter) best(ctx context.Context, k int) ([]int, error) {
	count := len(x.docs)
	var from []int // nil: all documents
	if x.group != nil {
		var err error
		if from, err = x.collapsed(ctx); err != nil {
			return nil, err
		}
		count = len(from)
	}
	var best []int
	worst := -1 // the last of the best so far
	var p Place
	for n := range count {
		i := n
		if from != nil {
			i = from[n]
		}
		if n%perLook == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if worst >= 0 && x.compare(i, worst) > 0 {
			continue
		}
		if x.After != nil {
			if x.place(i, &p); x.Compare(&p, x.After) <= 0 {
				continue
			}
		}
		if best = append(best, i); len(best) == 2*k {
			slices.SortFunc(best, x.compare)
			best = best[:k]
			worst = best[k-1]
		}
	}
	slices.SortFunc(best, x.compare)
	return best[:min(k, len(best))], nil
}
