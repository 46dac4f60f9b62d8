package split

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"heddle/codec"
	"heddle/codec/wah"
	"heddle/engine/cluster/layout"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// table cuts a table file: every shard is a build of its rows with the settings of the columns.
func table(ctx context.Context, path, dir string, opt *Options) (m *layout.Map, err error) {
	f, err := hdb.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	cuts, err := opt.cuts(uint64(f.Rows()), equal(uint64(f.Rows())))
	if err != nil {
		return nil, err
	}
	to, err := openFolder(dir, opt.Force)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	columns, settings := f.Columns(), settingsOf(f)
	for i := range len(cuts) - 1 {
		if err := copyRows(ctx, f, columns, to.path(i), cuts[i], cuts[i+1], settings); err != nil {
			return nil, err
		}
		opt.Progress(cuts[i+1], uint64(f.Rows()))
	}
	m = newMap(name(path), layout.Table, cuts)
	return m, to.publish(m, ".hdb")
}

// settingsOf gives the options that a table was built with.
func settingsOf(f *hdb.File) build.Options {
	o := build.Options{Word: f.Word(), Creator: f.Meta().Creator, Source: f.Meta().Source, Columns: map[string]build.Settings{}}
	o.Memory = build.DefaultMemory
	for _, c := range f.Columns() {
		o.Columns[c.Name] = build.Settings{Bins: len(c.Bins), Binning: c.Binning, Encoding: c.Encoding}
		for _, s := range c.Dictionary {
			o.Memory += 2 * uint64(len(s)+64) // so that the dictionaries of a shard have room
		}
	}
	return o
}

// copyRows writes the rows from to to-1 of a table file as a table of their own.
func copyRows(ctx context.Context, f *hdb.File, columns []column.Column, path string, from, to uint64, opt build.Options) (err error) {
	s := &rows{file: f, columns: columns, row: from, end: to}
	defer func() { err = errors.Join(err, s.Close()) }()
	for i := range columns {
		if err := s.open(i); err != nil {
			return err
		}
	}
	_, err = build.Build(ctx, s, path, opt)
	return err
}

// rows is a read.Source of rows of a table file.
type rows struct {
	file     *hdb.File
	columns  []column.Column
	row, end uint64
	values   []values // of each column
}

// values are the stored values of a column.
type values struct {
	low, high codec.Packed
	wide      bool // high is used
	// Rows without a value come in runs. The next or current run is from to to-1.
	missing  func() (from, to uint64, ok bool)
	stop     func()
	from, to uint64
	some     bool // there is such a run
}

// open starts the reading of column i.
func (s *rows) open(i int) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	t, c := s.file.Table(), &s.columns[i]
	v := values{stop: func() {}}
	if v.low, v.high, err = t.Codes(uint32(i)); err != nil {
		return fmt.Errorf("%s: column %q: %w", s.file.Path(), c.Name, err)
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

func (s *rows) Fields() (fields []read.Field) {
	for _, c := range s.columns {
		f := read.Field{Name: c.Name, Type: c.Type}
		if c.Type.IsDecimal() {
			f.Scale = c.Scale
		}
		fields = append(fields, f)
	}
	return fields
}

// batchRows is the number of rows of a batch, at most.
const batchRows = 64 * codec.SegmentLen

func (s *rows) Next(ctx context.Context, b *read.Batch) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if s.row == s.end {
		return io.EOF
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	end := min(s.end, s.row-s.row%batchRows+batchRows)
	if len(b.Columns) != len(s.columns) {
		b.Columns = make([]read.Values, len(s.columns))
	}
	b.Rows = int(end - s.row)
	for i := range s.columns {
		if err := s.values[i].read(&b.Columns[i], &s.columns[i], s.row, end); err != nil {
			return fmt.Errorf("%s: column %q, rows from %d on: %w", s.file.Path(), s.columns[i].Name, s.row, err)
		}
	}
	s.row = end
	return nil
}

// read sets dst to the values of the rows from to to-1.
func (v *values) read(dst *read.Values, c *column.Column, from, to uint64) error {
	dst.Keys, dst.Text, dst.Ends, dst.Missing = dst.Keys[:0], dst.Text[:0], dst.Ends[:0], dst.Missing[:0]
	if c.Missing > 0 {
		for row := from; row < to; row++ {
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
			dst.Keys = append(dst.Keys, c.Key(uint64(high[i])<<32+uint64(low[i])))
			row++
		}
	}
	if c.Type.HasDictionary() {
		for i, key := range dst.Keys {
			if c.Missing == 0 || !dst.Missing[i] {
				if key >= uint64(len(c.Dictionary)) {
					return fmt.Errorf("%w: row %d has entry %d of a dictionary of %d", hdb.ErrCorrupt, from+uint64(i), key, len(c.Dictionary))
				}
				dst.Text = append(dst.Text, c.Dictionary[key]...)
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

func (s *rows) Progress() (done, total int64) { return int64(s.row), int64(s.end) }
func (s *rows) Invalid() read.InvalidRows     { return read.InvalidRows{} }

func (s *rows) Close() error {
	for _, v := range s.values {
		v.stop()
	}
	s.values = nil
	return nil
}
