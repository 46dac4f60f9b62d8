package order

import (
	"cmp"
	"context"
	"slices"

	"heddle/engine/table/values"
)

// sorter orders documents by their indexes.
type sorter struct {
	*Spec
	docs    []uint32
	scores  []float64    // nil: the order does not depend on them
	columns values.Batch // by key that is no score
	first   uint64
}

// place sets the place of document i.
func (x *sorter) place(i int, p *Place) {
	p.Doc, p.Values = x.first+uint64(x.docs[i]), p.Values[:0]
	if x.scores != nil {
		p.Score = x.scores[i]
	}
	for k := range x.columns {
		c := &x.columns[k]
		v := Value{Missing: c.Null(i)}
		switch {
		case v.Missing:
		case c.Type.HasDictionary():
			v.Text = []byte(c.Dictionary[c.Codes[i]])
		default:
			v.Number = c.Base + c.Codes[i]
		}
		p.Values = append(p.Values, v)
	}
}

// compare compares documents i and j.
func (x *sorter) compare(i, j int) int {
	column := 0
	for _, k := range x.keys() {
		c := 0
		if k.Column == "" {
			c = cmp.Compare(x.scores[i], x.scores[j])
		} else {
			of := &x.columns[column]
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

// perLook is the number of documents between two looks at the context.
const perLook = 1 << 16

// best returns the first k documents behind After. It keeps at most twice as many.
func (x *sorter) best(ctx context.Context, k int) ([]int, error) {
	var best []int
	worst := -1 // the last of the best so far
	var p Place
	for i := range x.docs {
		if i%perLook == 0 && ctx.Err() != nil {
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
