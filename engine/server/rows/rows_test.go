package rows

import (
	"errors"
	"slices"
	"testing"

	"heddle/engine/server/problem"
	"heddle/engine/table/column"
	"heddle/engine/table/rowset"
)

// TestRanges: ranges of bits and of row numbers are the same, up to each limit of rows.
func TestRanges(t *testing.T) {
	bits := []uint64{0b1011, 1 << 63, 3}
	ids := rowset.AppendIDs(nil, bits)
	for rows := range uint64(len(ids) + 2) {
		fromBits, err := Ranges(t.Context(), bits, rows, 3)
		if err != nil {
			t.Fatal(err)
		}
		fromIDs := slices.Collect((&Answer{IDs: ids[:min(rows, uint64(len(ids)))]}).spans())
		if !slices.Equal(fromBits, fromIDs) {
			t.Errorf("%d rows: %v of bits, %v of numbers", rows, fromBits, fromIDs)
		}
	}
	var limit *problem.LimitError
	if _, err := Ranges(t.Context(), bits, 9, 2); !errors.As(err, &limit) || limit.Max != 2 {
		t.Errorf("three ranges where two are allowed: %v", err)
	}
}

// TestLiteral writes values of every type for predicates.
func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		kind       column.Type
		text, want string
	}{
		{column.String, "it's", "'it''s'"}, {column.Timestamp, "2001-02-03", "'2001-02-03'"}, {column.Bool, "TRUE", "true"}, {column.Bool, "yes", ""},
		{column.Int, "-5", "-5"}, {column.Int, "5)", ""}, {column.Int, "", ""}, {column.Float, "1e-3", "1e-3"}, {column.Float, "nan", "'nan'"}, {column.Decimal, "1.50", "1.50"},
	} {
		if got, err := literal(c.kind, c.text); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v %q: %q, %v, want %q", c.kind, c.text, got, err, c.want)
		}
	}
}
