package merge

import (
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec/bitslice"
	"heddle/codec/wah"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/multivalue"
	"heddle/engine/table/read"
)

// values are the stored values of a column.
type values struct {
	file   *hdb.File
	column int
	of     *column.Column
	join   *multivalue.Join // from the rows to the values of a multi-valued column, which are in list
	list   *values
	codes  bitslice.Column
	// Rows without a value come in runs. The next or current run is from to to-1.
	missing  func() (from, to uint64, ok bool)
	stop     func()
	from, to uint64
	some     bool // there is such a run
}

// open starts the reading of column i of a file.
func open(file *hdb.File, i int) (v values, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	c := &file.Columns()[i]
	l := file.List(i)
	if l == nil {
		return openStored(file, file.Table(), c, i, i)
	}
	list, err := openStored(file, &l.Table, &l.Columns[0], i, 0)
	if err != nil {
		return v, err
	}
	v = values{of: c, list: &list, stop: func() {}}
	if v.join, err = multivalue.Open(file.Table(), c, &l.Table); err != nil {
		err = fmt.Errorf("%s: %w", file.Path(), err)
	}
	return v, err
}

// openStored starts the reading of stored column at of a table, which is column i of the file.
func openStored(file *hdb.File, t *plan.Table, c *column.Column, i, at int) (v values, err error) {
	v = values{file: file, column: i, of: c, stop: func() {}}
	if v.codes, err = t.Codes(uint32(at)); err != nil {
		return v, fmt.Errorf("%s: column %q: %w", file.Path(), c.Name, err)
	}
	if c.Missing > 0 {
		vector := c.Vector + uint32(c.Vectors()) - 1
		runs := missingRuns(t, vector)
		v.missing, v.stop = iter.Pull2(runs)
		v.from, v.to, v.some = v.missing()
	}
	return v, nil
}

func missingRuns(t *plan.Table, vector uint32) iter.Seq2[uint64, uint64] {
	return func(yield func(from, to uint64) bool) {
		defer mapped.Unwatch(mapped.Watch()) // iter.Pull2 calls from a goroutine of its own
		if t.Word() == 64 {
			wah.Runs(t.Vector64(vector), uint64(t.Rows))(yield)
		} else {
			wah.Runs(t.Vector32(vector), uint64(t.Rows))(yield)
		}
	}
}

// read sets dst to the values of the rows from to to-1 that are not deleted.
func (v *values) read(dst *read.Values, deleted *roaring.Bitmap, from, to uint64) error {
	if v.list != nil {
		return v.readLists(dst, deleted, from, to)
	}
	c := v.of
	dst.Keys, dst.Text, dst.Ends, dst.Missing = dst.Keys[:0], dst.Text[:0], dst.Ends[:0], dst.Missing[:0]
	live := func(row uint64) bool { return deleted == nil || !deleted.Contains(uint32(row)) }
	for row := from; row < to && c.Missing > 0; row++ {
		if live(row) {
			dst.Missing = append(dst.Missing, v.isMissing(row))
		}
	}
	var codes [bitslice.SegmentRows]uint64
	for row := from; row < to; {
		n := v.codes.Segment(int(row/bitslice.SegmentRows), &codes)
		for i := int(row % bitslice.SegmentRows); i < n && row < to; i++ {
			if live(row) {
				dst.Keys = append(dst.Keys, c.UnscaledKey(codes[i]))
			}
			row++
		}
	}
	if c.Type.HasDictionary() {
		for i, key := range dst.Keys {
			if c.Missing == 0 || !dst.Missing[i] {
				entry, err := v.file.Entry(v.column, key)
				if err != nil {
					return err
				}
				dst.Text = append(dst.Text, entry...)
			}
			dst.Ends = append(dst.Ends, uint32(len(dst.Text)))
		}
	}
	return nil
}

// readLists is read of a multi-valued column.
func (v *values) readLists(dst *read.Values, deleted *roaring.Bitmap, from, to uint64) error {
	var gone *roaring.Bitmap // values of deleted rows
	if deleted != nil {
		gone = roaring.New()
	}
	if dst.Elements == nil {
		dst.Elements = &read.Values{}
	}
	dst.Counts = dst.Counts[:0]
	least, most := uint32(0), uint32(0) // least and greatest of all values
	for row := from; row < to; row++ {
		first, end := v.join.Span(uint32(row))
		if least == most {
			least = first
		}
		most = max(most, end)
		if deleted != nil && deleted.Contains(uint32(row)) {
			gone.AddRange(uint64(first), uint64(end))
		} else {
			dst.Counts = append(dst.Counts, end-first)
		}
	}
	return v.list.read(dst.Elements, gone, uint64(least), uint64(most))
}

// isMissing tells whether a row has no value. Rows come in ascending order.
func (v *values) isMissing(row uint64) bool {
	for v.some && v.to <= row {
		v.from, v.to, v.some = v.missing()
	}
	return v.some && v.from <= row
}
