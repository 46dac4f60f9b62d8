package merge

import (
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec"
	"heddle/codec/wah"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// values are the stored values of a column.
type values struct {
	file      *hdb.File
	column    int
	low, high codec.Packed
	wide      bool // high is used
	// Rows without a value come in runs. The next or current run is from to to-1.
	missing  func() (from, to uint64, ok bool)
	stop     func()
	from, to uint64
	some     bool // there is such a run
}

// open starts the reading of column i of a file.
func (s *rows) open(file *hdb.File, i int) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	t, c := file.Table(), &s.columns[i]
	v := values{file: file, column: i, stop: func() {}}
	if v.low, v.high, err = t.Codes(uint32(i)); err != nil {
		return fmt.Errorf("%s: column %q: %w", file.Path(), c.Name, err)
	}
	v.wide = v.high.Segments() > 0
	if c.Missing > 0 {
		vector := c.Vector + uint32(c.Vectors()) - 1
		runs := missingRuns(t, vector)
		v.missing, v.stop = iter.Pull2(runs)
		v.from, v.to, v.some = v.missing()
	}
	s.values = append(s.values, v)
	return nil
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
func (v *values) read(dst *read.Values, c *column.Column, deleted *roaring.Bitmap, from, to uint64) error {
	dst.Keys, dst.Text, dst.Ends, dst.Missing = dst.Keys[:0], dst.Text[:0], dst.Ends[:0], dst.Missing[:0]
	live := func(row uint64) bool { return deleted == nil || !deleted.Contains(uint32(row)) }
	for row := from; row < to && c.Missing > 0; row++ {
		if live(row) {
			dst.Missing = append(dst.Missing, v.isMissing(row))
		}
	}
	var low, high [codec.SegmentLen]uint32
	for row := from; row < to; {
		segment := int(row / codec.SegmentLen)
		n, err := v.low.Decode(segment, &low)
		if err == nil && v.wide {
			_, err = v.high.Decode(segment, &high)
		}
		if err != nil {
			return err
		}
		for i := int(row % codec.SegmentLen); i < n && row < to; i++ {
			if live(row) {
				dst.Keys = append(dst.Keys, c.Key(uint64(high[i])<<32+uint64(low[i])))
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

// isMissing tells whether a row has no value. Rows come in ascending order.
func (v *values) isMissing(row uint64) bool {
	for v.some && v.to <= row {
		v.from, v.to, v.some = v.missing()
	}
	return v.some && v.from <= row
}
