package hdb

import (
	"errors"
	"fmt"
	"math"

	"heddle/engine/table/column"
)

// Part is the duty of a stored column. A multi-valued column of the table is stored as three: Present
// among the columns of the table, Values and First behind them.
type Part uint8

const (
	Single  Part = iota // a column with at most one value a row
	Present             // true in the rows with values, else without a value
	Values              // the values of all rows, one after another: a row each
	First               // a row for each of the Values: true for the first one of a row, else false
)

var partNames = [...]string{"", "present", "values", "first"}

// Behind tells whether the column lies behind the columns of the table.
func (p Part) Behind() bool { return p == Values || p == First }

// parts checks the parts of a table one after the other.
type parts struct {
	present []partRows // parts that are present; all but the first part still lack Values and First
	behind  bool       // a Values has come
	values  *partRows  // the Values before a First
}

// partRows is a column by its name, and its rows with a value.
type partRows struct {
	name string
	rows uint32
}

// add takes the next column and returns the number of its rows, in a table of the given number of rows.
func (s *parts) add(p Part, c *column.Column, rows uint32) (uint32, error) {
	switch {
	case s.behind && !p.Behind():
		return 0, errors.New("a column of the table behind the values of a multi-valued one")
	case p.Behind() && (len(s.present) == 0 || s.present[0].name != c.Name):
		return 0, fmt.Errorf("part %s, but no multi-valued column has this place", partNames[p])
	case (p == First) != (s.values != nil):
		return 0, errors.New("the parts of a multi-valued column are present, values and first, in this order")
	case (p == Present || p == First) && c.Type != column.Bool:
		return 0, fmt.Errorf("part %s of type %s", partNames[p], c.Type)
	case p.Behind() && c.Missing > 0:
		return 0, fmt.Errorf("part %s has %d rows without a value", partNames[p], c.Missing)
	}
	if p == Present || p == First {
		for i, b := range c.Bins {
			if b.Lo != b.Hi {
				return 0, fmt.Errorf("bin %d of part %s has false and true", i, partNames[p])
			}
		}
	}
	switch p {
	case Present:
		if len(c.Bins) > 0 && (c.Key(0) != 1 || greatest(c) != 0) {
			return 0, errors.New("a row with values is false")
		}
		s.present = append(s.present, partRows{c.Name, trues(c)})
	case Values:
		n := uint64(0)
		for _, b := range c.Bins {
			n += uint64(b.Rows)
		}
		if n > math.MaxUint32 {
			return 0, fmt.Errorf("%d values, at most %d are possible", n, uint32(math.MaxUint32))
		}
		s.behind, s.values = true, &partRows{c.Name, uint32(n)}
		return uint32(n), nil
	case First:
		rows = s.values.rows
		if n := trues(c); n != s.present[0].rows {
			return 0, fmt.Errorf("%d first values, %d rows have values", n, s.present[0].rows)
		}
		s.present, s.values = s.present[1:], nil
	}
	return rows, nil
}

// trues is the number of rows of a Bool in the bins that reach to true.
func trues(c *column.Column) (n uint32) {
	for _, b := range c.Bins {
		if c.Key(b.Hi) == 1 {
			n += b.Rows
		}
	}
	return n
}

// end checks that no part lacks.
func (s *parts) end() error {
	if len(s.present) > 0 {
		return fmt.Errorf("column %.60q: its values or their first ones are missing", s.present[0].name)
	}
	return nil
}
