package predicatetest

import "heddle/engine/table/column"

// SmallTable is a table with at most one column, named a, of type int.
type SmallTable struct {
	Columns []Column
	Equal   uint32 // rows for which a = 5
}

// SmallTables returns tables that have few rows, bins or vectors, by name.
func SmallTables() map[string]SmallTable {
	repeat := func(v any, rows int) Column {
		c := Column{Name: "a", Type: column.Int}
		for range rows {
			c.Values = append(c.Values, v)
		}
		return c
	}
	values := func(e column.Encoding, v ...any) Column {
		return Column{Name: "a", Type: column.Int, Encoding: e, Values: v}
	}
	coded := func(e column.Encoding, c Column) Column {
		c.Encoding = e
		return c
	}
	five, six, seven := any(int64(5)), any(int64(6)), any(int64(7))
	return map[string]SmallTable{
		"no columns":              {nil, 0},
		"no rows":                 {[]Column{repeat(nil, 0)}, 0},
		"one row":                 {[]Column{repeat(five, 1)}, 1},
		"one vector of ones":      {[]Column{repeat(five, 1000)}, 1000},
		"all missing":             {[]Column{repeat(nil, 1000)}, 0},
		"one bin, no vector":      {[]Column{coded(column.Range, repeat(five, 100))}, 100},
		"one interval":            {[]Column{coded(column.Interval, repeat(five, 100))}, 100},
		"one bin and missing":     {[]Column{values(column.Range, five, nil, five)}, 2},
		"two bins, one vector":    {[]Column{values(column.Range, five, seven, nil)}, 1},
		"three bins, two vectors": {[]Column{values(column.Interval, five, seven, six, five)}, 2},
	}
}
