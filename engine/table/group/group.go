// Package group forms groups of selected rows by their codes, and computes sums, extremes and
// other measures of each group (plan.Aggregation).
//
// Goroutines take parts of the rows in turn. Each one has groups of its own, which are merged
// at the end. Sums are exact, so the answer does not depend on the parts. Groups of few
// possible codes are places of an array; else a hash table numbers them.
package group

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"heddle/codec/bitslice"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/table/exact"
	"heddle/engine/table/gather"
	"heddle/engine/table/rowset"
)

// Options rule Run. The zero value is the default.
type Options struct {
	// Workers is the number of goroutines. Default: 0, one per core.
	Workers int
	// Groups is the greatest number of groups. Default: 0, no limit.
	Groups int
	// Codes is the greatest number of different codes of a MeasureCodes, in all groups
	// together. Default: 0, no limit.
	Codes int
	// Cells are the quantities of the groups, which a backend has computed. Default: nil, Run computes
	// them from the rows.
	Cells *plan.Cells
	// Lists has the values of the multi-valued column of an input, by input. One of them at most may be in
	// GROUP BY: a row is in the group of each of its different values, once. Measures of another one are of
	// all its values. Default: nil, none.
	Lists []*gather.List
	// Ended is called now and then; its error ends Run. Default: nil, never.
	Ended func() error
}

// ErrGroups and ErrCodes are the errors of an answer above a limit.
var (
	ErrGroups = errors.New("too many groups")
	ErrCodes  = errors.New("too many different values")
)

const (
	mostClaim = 64 // tiles that a goroutine takes at a time
	claims    = 8  // least number of claims of each goroutine, so that all end at about the same time
)

// Run computes the groups of the rows of a bitset. Errors: ErrGroups, ErrCodes, of Ended, and
// hdb.ErrCorrupt or codec.ErrCorrupt for damaged columns.
func Run(t *plan.Table, a *plan.Aggregation, rows []uint64, opt Options) (*Groups, error) {
	columns := make([]*gather.Column, len(a.Inputs))
	if opt.Cells != nil {
		for i, in := range a.Inputs {
			columns[i] = gather.Unread(in)
		}
		g := newGroups(a, columns, t.Rows, 0, nil)
		if err := g.take(opt.Cells); err != nil {
			return nil, err
		}
		g.sort()
		return g, g.within(&opt)
	}
	for i, in := range a.Inputs {
		var err error
		if opt.Lists != nil && opt.Lists[i] != nil {
			columns[i], err = gather.OpenList(t, in, opt.Lists[i])
		} else {
			columns[i], err = gather.Open(t, in)
		}
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", in.Column, err)
		}
	}
	workers := opt.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	segments, selected := gather.Segments(rows), rowset.Count(rows)
	tiles := (segments + tileSegments - 1) / tileSegments
	dense := selected >= leastDense*(len(rows)/bitslice.TileWords)
	all := make([]*Groups, max(1, min(workers, tiles)))
	part := tileSegments * min(mostClaim, tiles/(claims*len(all))+1)
	failed := make([]error, len(all))
	var next atomic.Int64
	var running sync.WaitGroup
	windows, err := sample(a, columns, rows)
	if err != nil {
		return nil, err
	}
	for w := range all {
		all[w] = newGroups(a, columns, t.Rows, selected, windows)
		all[w].grow(all[w].places)
		running.Go(func() {
			defer mapped.Catch(mapped.Watch(), &failed[w])
			failed[w] = all[w].work(rows, part, dense, &next, &opt)
			if failed[w] != nil {
				next.Store(int64(segments)) // the other goroutines end
			}
		})
	}
	running.Wait()
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	for _, other := range all[1:] {
		all[0].merge(other)
		if err := all[0].within(&opt); err != nil {
			return nil, err
		}
	}
	for _, c := range all[0].cells {
		if c, ok := c.(*codes); ok {
			c.settle()
		}
	}
	all[0].sort()
	return all[0], all[0].within(&opt)
}

// sample finds windows for the sums of floats, by measure, from the first rows.
func sample(a *plan.Aggregation, columns []*gather.Column, set []uint64) ([]exact.Window, error) {
	windows := make([]exact.Window, len(a.Measures))
	var batch gather.Batch
	batch.Fill(set, 0, gather.Segments(set))
	var reader gather.Reader
	codes := make([]uint64, len(batch.Rows))
	for i := range a.Measures {
		m := &a.Measures[i]
		if m.Kind != plan.MeasureFloats && m.Kind != plan.MeasureFloats32 || columns[m.Input].Multivalued() {
			continue
		}
		if err := reader.Read(columns[m.Input], &batch, codes); err != nil {
			return nil, err
		}
		of, values := numbersOf(m), make([]float64, 0, len(codes))
		for k, row := range batch.Rows {
			if !columns[m.Input].Missing(row) {
				values = append(values, of.Float(codes[k]))
			}
		}
		windows[i] = exact.WindowOf(values)
	}
	return windows, nil
}

// within checks the limits.
func (g *Groups) within(opt *Options) error {
	groups := 0
	if g.keys != nil {
		groups = len(g.keys.keys)
	} else if g.places > plan.Dense {
		groups = len(g.order)
	}
	if opt.Groups > 0 && groups > opt.Groups {
		return fmt.Errorf("%w: more than %d", ErrGroups, opt.Groups)
	}
	for _, c := range g.cells {
		if c, ok := c.(*codes); ok && opt.Codes > 0 && c.different() > opt.Codes {
			return fmt.Errorf("%w: more than %d in all groups", ErrCodes, opt.Codes)
		}
	}
	return nil
}

// work takes parts of the given number of segments until no part is left. Many rows of a set are dense.
func (g *Groups) work(set []uint64, part int, dense bool, next *atomic.Int64, opt *Options) error {
	segments := gather.Segments(set)
	slices := dense && g.takesTiles()
	for first := int(next.Add(1)-1) * part; first < segments; first = int(next.Add(1)-1) * part {
		if opt.Ended != nil {
			if err := opt.Ended(); err != nil {
				return err
			}
		}
		if g.countsCodes() {
			if err := g.reader.Count(g.columns[g.of.Groupings[0]], set, first, min(first+part, segments), g.rows); err != nil {
				return err
			}
			continue
		}
		for i, end := first, min(first+part, segments); i < end; {
			to := end
			if dense {
				if i%tileSegments == 0 {
					if added, err := g.addDense(set, i/tileSegments, slices); err != nil {
						return err
					} else if added {
						i += tileSegments
						continue
					}
				}
				to = min(end, i-i%tileSegments+tileSegments)
			}
			if i = g.in.Fill(set, i, to); len(g.in.Rows) == 0 {
				continue
			}
			if err := g.add(); err != nil {
				return err
			}
		}
		if err := g.within(opt); err != nil {
			return err
		}
	}
	if g.countsCodes() {
		g.countValues()
	}
	return nil
}

// countValues notes that all rows outside of the first group have a value.
func (g *Groups) countValues() {
	if g.columns[0].HasMissing() {
		copy(g.values[0], g.rows)
		g.values[0][0] = 0
	}
}

// countsCodes tells whether gather.Reader.Count counts the rows of the groups.
func (g *Groups) countsCodes() bool { return g.placesAreCodes() && g.columns[0].Counts() }

// placesAreCodes tells whether the groups are the codes of one column and nothing but their rows is
// counted. The number of a code is its place then.
func (g *Groups) placesAreCodes() bool {
	for _, c := range g.cells {
		if c != nil {
			return false
		}
	}
	return len(g.columns) == 1 && len(g.by) == 1 && g.keys == nil && g.by[0].codes == nil
}

// makeRoom makes memory for a batch of n rows.
func (g *Groups) makeRoom(n int) {
	if len(g.ids) >= n {
		return
	}
	g.ids, g.validIDs = make([]uint32, n), make([]uint32, n)
	g.keys64, g.valid = make([]uint64, n), make([]uint64, n)
	old := g.batch
	g.batch = make([][]uint64, len(g.columns))
	for i := range g.batch {
		g.batch[i] = make([]uint64, n)
		if old != nil {
			copy(g.batch[i], old[i])
		}
	}
}

// add adds the rows of g.in.
func (g *Groups) add() error {
	g.makeRoom(max(gather.BatchLen, len(g.in.Rows)))
	rows := g.in.Rows
	n := len(rows)
	list := -1
	for i, c := range g.columns {
		if g.measured(i) {
			continue
		}
		if c.Multivalued() {
			list = i
		} else if err := g.reader.Read(c, &g.in, g.batch[i][:n]); err != nil {
			return err
		}
	}
	if list >= 0 {
		var err error
		if rows, err = g.expand(list); err != nil {
			return err
		}
		n = len(rows)
	}
	ids := g.ids[:n]
	g.identify(rows, ids)
	g.rows.count(ids)
	for k, c := range g.columns {
		in, codes := ids, g.batch[k][:n]
		switch {
		case g.measured(k):
			var err error
			if in, codes, err = g.allValues(c, rows, ids); err != nil {
				return err
			}
			g.values[k].count(in)
		case c.HasMissing():
			n := c.Valid(rows, ids, codes, g.validIDs, g.valid)
			in, codes = g.validIDs[:n], g.valid[:n]
			g.values[k].count(in)
		}
		for i, c := range g.cells {
			if c != nil && g.of.Measures[i].Input == k {
				c.add(in, codes)
			}
		}
	}
	return nil
}

// identify finds the groups of rows.
func (g *Groups) identify(rows, ids []uint32) {
	if len(g.by) == 0 {
		return // ids are 0
	}
	if n := g.by[0]; len(g.by) == 1 && g.keys == nil && !n.of.HasMissing() {
		for i, c := range g.batch[g.of.Groupings[0]][:len(ids)] {
			ids[i] = uint32(c) + 1
		}
		return
	}
	keys, numbers := g.keys64[:len(rows)], g.valid[:len(rows)]
	for k, n := range g.by {
		copy(numbers, g.batch[g.of.Groupings[k]])
		n.all(rows, numbers)
		if k == 0 {
			copy(keys, numbers)
			continue
		}
		if fold := g.folds[k]; fold != nil {
			for i, key := range keys {
				keys[i] = uint64(fold.id(key))
			}
		}
		size := g.sizes[k]
		for i, x := range numbers {
			keys[i] = keys[i]*size + x
		}
	}
	if g.keys == nil {
		for i, k := range keys {
			ids[i] = uint32(k)
		}
		return
	}
	for i, k := range keys {
		ids[i] = g.keys.id(k)
	}
	g.grow(len(g.keys.keys))
}
