package predicate

import (
	"fmt"
	"strings"

	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/token"
)

// Plan describes a selection.
type Plan struct {
	Tests   []Test
	Vectors int // read
	// Sliced are comparisons of columns by their bit slices, such as "a < b": they are steps of a selection. Compared are
	// the other ones, which pure Go evaluates on the stored values.
	Sliced, Compared []string
	// Joined are the multi-valued columns, one for each test of one. A processor selects values, and pure
	// Go finds their rows.
	Joined []string
	// Set makes the rows of several selections, if there are comparisons by values or tests of
	// multi-valued columns; else it is nil.
	Set *Set
	// Of is, of each selection of Set, the multi-valued column whose values it selects, or OfTable.
	Of []int
}

// OfTable tells in Plan.Of that a selection is of the rows of the table.
const OfTable = -1

// Test is the part of a selection that concerns one column.
type Test struct {
	Column  string
	Ranges  []string // ranges of values that rows have, such as "60 to 1439" or "'AA' to 'DL'"
	Missing bool     // rows without a value too
	Bins    int      // number of bins of the column
	// Whole is the number of bins whose vectors select the rows. It is 0 if codes do: then Checked bins
	// have rows that may pass, Candidates in all.
	Whole, Checked int
	Candidates     uint64
}

// maxRanges is how many ranges a Test writes.
const maxRanges = 4

func describe(t *test) Test {
	d := Test{
		Column:  t.c.Name,
		Missing: t.missing,
		Bins:    len(t.c.Bins),
	}
	if bins := column.Count(t.bins); t.checked {
		d.Checked, d.Candidates = bins, uint64(t.c.Rows(t.bins))
	} else {
		d.Whole = bins
	}
	for i, r := range t.codes {
		if i == maxRanges {
			d.Ranges = append(d.Ranges, fmt.Sprintf("%d more", len(t.codes)-i))
			break
		}
		d.Ranges = append(d.Ranges, writeRange(t.c, r))
	}
	return d
}

func writeRange(c *column.Column, r plan.CodeRange) string {
	if r.Lo == r.Hi {
		return writeCode(c, r.Lo)
	}
	return writeCode(c, r.Lo) + " to " + writeCode(c, r.Hi)
}

// writeCode writes the value of a code; texts stand in quotes, as in a predicate.
func writeCode(c *column.Column, code uint64) string {
	if c.Type != column.String {
		return c.Format(code)
	}
	var b strings.Builder
	token.WriteQuoted(&b, '\'', c.Format(code))
	return b.String()
}

// String is a line such as "delay: 60 to 1439: 12 of 64 bins, checked (102330 rows)".
func (t Test) String() string {
	values := strings.Join(t.Ranges, ", ")
	switch {
	case t.Missing && values == "":
		values = "missing"
	case t.Missing:
		values += ", missing"
	}
	s := fmt.Sprintf("%s: %s: %d of %d bins", t.Column, values, t.Whole+t.Checked, t.Bins)
	if t.Checked > 0 {
		s += fmt.Sprintf(", checked (%d rows)", t.Candidates)
	}
	return s
}
