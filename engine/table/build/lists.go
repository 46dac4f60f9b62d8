package build

import (
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// start makes the stored columns: the ones of the table, then the values of each multi-valued one and
// which of them are the first of their row.
func (b *builder) start(fields []read.Field) {
	var behind []*collected
	for i, f := range fields {
		if !f.List {
			b.columns = append(b.columns, &collected{Field: f, of: i, least: 1})
			continue
		}
		rows := read.Field{Name: f.Name, Type: column.Bool}
		b.columns = append(b.columns, &collected{Field: rows, part: hdb.Present, of: i, least: 1})
		behind = append(behind, &collected{Field: f.Element(), part: hdb.Values, of: i, least: 1},
			&collected{Field: rows, part: hdb.First, of: i, least: 1})
	}
	b.columns = append(b.columns, behind...)
	for _, c := range b.columns {
		if b.opt.settings(c.Name).Binning != column.Distinct {
			c.keys.Share(len(b.columns))
		}
	}
}

// stored gives the values of the stored columns in a batch.
func (b *builder) stored(batch *read.Batch) []*read.Values {
	all := make([]*read.Values, 0, len(b.columns))
	var behind []*read.Values
	for i := range batch.Columns {
		v := &batch.Columns[i]
		if b.columns[i].part == hdb.Single {
			all = append(all, v)
			continue
		}
		present, first := partsOf(v.Counts)
		all = append(all, present)
		behind = append(behind, v.Elements, first)
	}
	return append(all, behind...)
}

// partsOf gives the rows with values and the first value of each, by the numbers of values of rows.
func partsOf(counts []uint32) (present, first *read.Values) {
	present, first = &read.Values{Keys: make([]uint64, len(counts)), Missing: make([]bool, len(counts))}, &read.Values{}
	none := false
	for i, n := range counts {
		present.Keys[i] = 1
		if present.Missing[i] = n == 0; n == 0 {
			none = true
			continue
		}
		first.Keys = append(append(first.Keys, 1), make([]uint64, n-1)...)
	}
	if !none {
		present.Missing = nil
	}
	return present, first
}

// settings returns the settings of a stored column.
func (c *collected) settings(o *Options) Settings {
	switch c.part {
	case hdb.Present:
		return Settings{Bins: 1, Binning: column.Distinct}
	case hdb.First: // one vector for both values
		return Settings{Bins: 2, Binning: column.Distinct, Encoding: column.Range}
	}
	return o.settings(c.Name)
}
