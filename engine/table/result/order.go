package result

import (
	"cmp"
	"math"
	"slices"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
	"heddle/engine/table/gather"
	"heddle/engine/table/values"
)

// candidate is a row that may be in the result, with its codes of the keys.
type candidate struct {
	row  uint32
	keys []uint64 // two words for each key; smaller keys come first
}

func (a candidate) compare(b candidate) int {
	if d := slices.Compare(a.keys, b.keys); d != 0 {
		return d
	}
	return cmp.Compare(a.row, b.row)
}

// The first word of a key: rows without a value come first or last.
const (
	missingFirst = iota
	hasValue
	missingLast
)

// ordered passes rows in the order of the query. It keeps at most twice as many candidates as
// the result has rows.
func (p *projection) ordered(deliver func(values.Batch) error) error {
	best := top[candidate]{most: math.MaxInt, compare: candidate.compare}
	if n := p.opt.Offset + p.opt.Limit; p.opt.Limit > 0 && n >= p.opt.Limit && n < 1<<31 {
		best.most = int(n)
	}
	var err error
	switch {
	case p.q.Candidates != nil:
		err = p.choose(&best, p.q.Candidates)
	case best.most < math.MaxInt:
		err = p.descend(&best, p.set)
	default:
		err = p.scan(&best, p.set)
	}
	if err != nil {
		return err
	}
	list := best.sorted()
	first, end := p.opt.end(uint64(len(list)))
	if first == end {
		return p.none(deliver)
	}
	for part := range slices.Chunk(list[first:end], perDelivery) {
		if err := p.deliver(part, deliver); err != nil {
			return err
		}
	}
	return nil
}

// Sorted is the order of a query with a limit, if a plan.Sorter can take it; else nil.
func (q *Query) Sorted(offset, limit uint64) *plan.Order {
	n := offset + limit
	if q.Grouped || len(q.order) == 0 || limit == 0 || n < limit || n > plan.MaxFirst {
		return nil
	}
	o := &plan.Order{K: int(n)}
	for _, by := range q.order {
		in := &q.Inputs[q.outputs[by.output].input]
		o.Keys = append(o.Keys, plan.OrderKey{Column: in.Column, Last: in.Last, Descending: by.descending, MissingFirst: by.missingFirst})
	}
	return o
}

// choose adds rows in any order.
func (p *projection) choose(best *top[candidate], rows []uint32) error {
	for part := range slices.Chunk(rows, perDelivery) {
		if err := p.ended(); err != nil {
			return err
		}
		if err := p.add(best, part, func(c *gather.Column, codes []uint64) error { return c.At(part, codes) }); err != nil {
			return err
		}
	}
	return nil
}

// scan adds all rows of a set.
func (p *projection) scan(best *top[candidate], set []uint64) error {
	return p.batches(set, 0, gather.Segments(set), func(in *gather.Batch) (bool, error) {
		return true, p.addBatch(best, in)
	})
}

// addBatch adds the rows of a batch.
func (p *projection) addBatch(best *top[candidate], in *gather.Batch) error {
	return p.add(best, in.Rows, func(c *gather.Column, codes []uint64) error { return p.reader.Read(c, in, codes) })
}

// add adds rows, with a function for their codes.
func (p *projection) add(best *top[candidate], rows []uint32, read func(*gather.Column, []uint64) error) error {
	keys, err := p.keys(rows, read)
	if err != nil {
		return err
	}
	n := 2 * len(p.q.order)
	for i, row := range rows {
		c := candidate{row, keys[i*n : (i+1)*n]}
		if best.full && c.compare(best.last) > 0 {
			continue
		}
		if best.most < math.MaxInt { // most of the batch is dropped
			c.keys = slices.Clone(c.keys)
		}
		best.add(c)
	}
	return nil
}

// descend adds the rows of a set that can be among the first ones. It visits tiles in the order of the bounds of their
// codes of the first key, and in a tile the rows alone that do not come behind the last row so far.
func (p *projection) descend(best *top[candidate], set []uint64) error {
	by := p.q.order[0]
	of := p.columns[p.q.outputs[by.output].input]
	missing := of.MissingRows()
	if missing == nil {
		return p.descendValues(best, set, of, by)
	}
	without, valid := slices.Clone(set), slices.Clone(set)
	for i, w := range missing {
		without[i] &= w
		valid[i] &^= w
	}
	for _, none := range []bool{by.missingFirst, !by.missingFirst} {
		var err error
		if none {
			err = p.scan(best, without)
		} else {
			err = p.descendValues(best, valid, of, by)
		}
		if best.sorted(); err != nil || best.full { // the other rows come behind
			return err
		}
	}
	return nil
}

func (p *projection) descendValues(best *top[candidate], set []uint64, of *gather.Column, by key) error {
	tiles := of.Tiles()
	bound := func(tile int) uint64 { // a smaller bound comes first
		if t := &tiles.Tiles[tile]; by.descending {
			return ^min(t.Max(), of.Last())
		} else {
			return t.Min
		}
	}
	order := make([]int, 0, len(tiles.Tiles))
	words := func(tile int) []uint64 {
		return set[tile*bitslice.TileWords : min((tile+1)*bitslice.TileWords, len(set))]
	}
	for tile := range tiles.Tiles {
		if slices.ContainsFunc(words(tile), func(w uint64) bool { return w != 0 }) {
			order = append(order, tile)
		}
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(bound(i), bound(k)) })
	visited := make([]uint64, len(set))
	for _, tile := range order {
		var rows bitslice.Set
		n := copy(rows[:], words(tile))
		if best.full {
			last := best.last.keys[1]
			b := bound(tile)
			if b > last {
				break
			} else if b == last && len(p.q.order) == 1 && uint32(tile*bitslice.TileRows) > best.last.row {
				continue
			}
			in := by.upTo(last)
			if !tiles.Within(tile, []plan.CodeRange{in}, &rows) || b == last && tiles.Tiles[tile].Width == 0 && !p.second(best, tile, &rows) {
				continue
			}
		}
		from := tile * bitslice.TileWords
		copy(visited[from:], rows[:n])
		first := from * 64 / bitslice.SegmentRows
		err := p.batches(visited, first, min(first+bitslice.TileRows/bitslice.SegmentRows, gather.Segments(set)), func(in *gather.Batch) (bool, error) {
			return true, p.addBatch(best, in)
		})
		if err != nil {
			return err
		}
		clear(visited[from : from+n])
	}
	return nil
}

// second keeps the rows of a tile whose second key does not come behind the one of the last row so far, which has their
// first key. It reports whether any is left.
func (p *projection) second(best *top[candidate], tile int, rows *bitslice.Set) bool {
	if len(p.q.order) == 1 || best.last.keys[2] != hasValue {
		return true
	}
	by := p.q.order[1]
	of := p.columns[p.q.outputs[by.output].input]
	if of.MissingRows() != nil {
		return true
	}
	return of.Tiles().Within(tile, []plan.CodeRange{by.upTo(best.last.keys[3])}, rows)
}

// upTo is the range of the codes whose word of a key is at most last.
func (by *key) upTo(last uint64) plan.CodeRange {
	if by.descending {
		return plan.CodeRange{Lo: ^last, Hi: math.MaxUint64}
	}
	return plan.CodeRange{Hi: last}
}

// keys are the keys of rows, with a function for their codes.
func (p *projection) keys(rows []uint32, read func(*gather.Column, []uint64) error) ([]uint64, error) {
	n := 2 * len(p.q.order)
	keys := make([]uint64, n*len(rows))
	codes := make([]uint64, len(rows))
	for k, by := range p.q.order {
		of := p.columns[p.q.outputs[by.output].input]
		if err := read(of, codes); err != nil {
			return nil, err
		}
		for i, row := range rows {
			key := keys[i*n+2*k:][:2]
			switch missing := of.Missing(row); {
			case missing && !by.missingFirst:
				key[0] = missingLast
			case missing:
				key[0] = missingFirst
			case by.descending:
				key[0], key[1] = hasValue, ^codes[i]
			default:
				key[0], key[1] = hasValue, codes[i]
			}
		}
	}
	return keys, nil
}

// deliver passes candidates in their order.
func (p *projection) deliver(list []candidate, deliver func(values.Batch) error) error {
	rows := make([]uint32, len(list))
	for i, c := range list {
		rows[i] = c.row
	}
	b, err := p.read(rows, func(c *gather.Column, codes []uint64) error { return c.At(rows, codes) })
	if err != nil {
		return err
	}
	return deliver(b)
}
