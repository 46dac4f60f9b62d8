package group

import (
	"slices"

	"heddle/engine/table/gather"
)

// lists has the values of the rows of a batch.
type lists struct {
	codes []uint64
	ends  []uint32
	rows  []uint32
	ids   []uint32 // ids of values
}

// measured reports whether the values of an input are of a multi-valued column outside of GROUP BY.
func (g *Groups) measured(input int) bool {
	return g.columns[input].Multivalued() && !slices.Contains(g.of.Groupings, input)
}

// allValues returns the codes of all values of a multi-valued column in rows, and the groups of the values.
// They are valid up to the next call.
func (g *Groups) allValues(c *gather.Column, rows, ids []uint32) (in []uint32, codes []uint64, err error) {
	l := &g.lists
	l.codes, l.ends, err = g.reader.Lists(c, rows, l.codes[:0], l.ends[:0])
	l.ids = l.ids[:0]
	for i, end := range l.ends {
		for len(l.ids) < int(end) {
			l.ids = append(l.ids, ids[i])
		}
	}
	return l.ids, l.codes, err
}

// expand repeats each row of g.in for each different value of a multi-valued column, whose codes it
// reads; a row without values stays once. It returns the rows, and changes g.batch accordingly.
func (g *Groups) expand(list int) (rows []uint32, err error) {
	l := &g.lists
	if l.codes, l.ends, err = g.reader.Lists(g.columns[list], g.in.Rows, l.codes[:0], l.ends[:0]); err != nil {
		return nil, err
	}
	l.rows = l.rows[:0]
	codes := l.codes[:0]
	from := make([]int, 0, len(l.codes)) // places in g.in.Rows
	first := uint32(0)
	var missing []int // places in rows
	for i, row := range g.in.Rows {
		values := l.codes[first:l.ends[i]]
		first = l.ends[i]
		slices.Sort(values)
		values = slices.Compact(values)
		if len(values) == 0 {
			missing = append(missing, len(l.rows))
			l.rows, from = append(l.rows, row), append(from, i)
			continue
		}
		codes = append(codes, values...)
		for range values {
			l.rows, from = append(l.rows, row), append(from, i)
		}
	}
	g.makeRoom(len(l.rows))
	for i, of := range g.batch {
		if i == list {
			continue
		}
		for k := len(from) - 1; k >= 0; k-- { // from[k] <= k
			of[k] = of[from[k]]
		}
	}
	to, next := g.batch[list][:len(l.rows)], 0
	for k := range to {
		if len(missing) > 0 && missing[0] == k {
			missing, to[k] = missing[1:], 0
			continue
		}
		to[k] = codes[next]
		next++
	}
	return l.rows, nil
}
