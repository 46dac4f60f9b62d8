package hdb

import (
	"fmt"
	"math"
	"math/bits"
	"unicode/utf8"

	"heddle/codec/wah"
	"heddle/engine/table/column"
)

// The functions below are the rules of tables, for the input of a Writer and the content of a file.

// checkColumn checks a column of a table with the given number of entries in its dictionary, except for its
// bins and the order of the entries.
func checkColumn(c *column.Column, entries uint64) error {
	switch {
	case c.Name == "":
		return fmt.Errorf("it has no name")
	case !utf8.ValidString(c.Name):
		return fmt.Errorf("its name is not UTF-8")
	case !utf8.ValidString(c.Reason):
		return fmt.Errorf("the reason of its encoding is not UTF-8")
	case c.Type > column.TimestampNS:
		return fmt.Errorf("unknown type %d", c.Type)
	case c.Encoding > column.None:
		return fmt.Errorf("unknown encoding %d", c.Encoding)
	case c.Binning == column.Auto || c.Binning > column.Lloyd:
		return fmt.Errorf("binning %d, which does not say how its bins were found", c.Binning)
	case !c.Type.HasDictionary() && entries > 0:
		return fmt.Errorf("a dictionary for values of type %s", c.Type)
	case c.Scale > c.Type.MaxScale():
		return fmt.Errorf("%d digits behind the point in type %s", c.Scale, c.Type)
	case len(c.Bins) == 0 && c.Base != 0:
		return fmt.Errorf("base %d where no row has a value", c.Base)
	}
	hi, n := greatest(c), uint64(len(c.Ranks))
	high, low := bits.Mul64(hi, max(c.Unit, 1))
	switch greatestKey := c.Key(hi); {
	case n > 0 && (c.Base != 0 || c.Unit != 0 || entries > 0):
		return fmt.Errorf("ranks beside a base, a unit or a dictionary")
	case n > 0 && (hi != n-1 || len(c.Bins) == 0):
		return fmt.Errorf("%d ranks, the codes end at %d", n, hi)
	case n > 0 && !ascend(c.Ranks):
		return fmt.Errorf("its ranks do not ascend")
	case n == 0 && (high > 0 || low > math.MaxUint64-c.Base):
		return fmt.Errorf("base %d, with codes up to %d above it in units of %d", c.Base, hi, max(c.Unit, 1))
	case entries > 0 && c.Unit > 1:
		return fmt.Errorf("unit %d beside a dictionary", c.Unit)
	case c.Type == column.Bool && greatestKey > 1:
		return fmt.Errorf("key %d of a boolean", greatestKey)
	case c.Type == column.Float && c.Scale > 0 && len(c.Bins) > 0 && !column.ScaledKeys(c.Key(0), greatestKey):
		return fmt.Errorf("keys %d to %d of a float with %d digits behind the point", c.Key(0), greatestKey, c.Scale)
	case c.Type == column.Float32 && greatestKey > math.MaxUint32:
		return fmt.Errorf("key %d of a float32", greatestKey)
	case c.Type.HasDictionary() && len(c.Bins) > 0 && greatestKey >= entries:
		return fmt.Errorf("key %d, the dictionary has %d entries", greatestKey, entries)
	}
	return nil
}

// ascend reports whether each key is greater than the one before it.
func ascend(keys []uint64) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i] <= keys[i-1] {
			return false
		}
	}
	return true
}

// checkEntry checks entry i of the dictionary of a type. before is entry i-1; entry 0 has none.
func checkEntry[T, U string | []byte](t column.Type, i uint64, s T, before U) error {
	reason := ""
	switch {
	case len(s) > MaxStringLen:
		reason = fmt.Sprintf("%d bytes; at most %d are possible", len(s), MaxStringLen)
	case t == column.Decimal128 && len(s) != column.WideSize:
		reason = fmt.Sprintf("%d bytes; a decimal128 has %d", len(s), column.WideSize)
	case i > 0 && string(s) <= string(before):
		reason = fmt.Sprintf("%.60q does not come behind %.60q", s, before)
	default:
		return nil
	}
	return fmt.Errorf("entry %d of its dictionary: %s", i, reason)
}

// greatest is the greatest code of a column.
func greatest(c *column.Column) uint64 {
	if n := len(c.Bins); n > 0 {
		return c.Bins[n-1].Hi
	}
	return 0
}

// checkBins checks the bins of a column and names the first wrong one.
func checkBins(c *column.Column, rows uint32) (bin int, err error) {
	all := uint64(c.Missing)
	for i, b := range c.Bins {
		switch {
		case b.Lo > b.Hi:
			return i, fmt.Errorf("bin %d has codes %d to %d", i, b.Lo, b.Hi)
		case i > 0 && b.Lo <= c.Bins[i-1].Hi:
			return i, fmt.Errorf("bin %d starts at code %d, the one before ends at %d", i, b.Lo, c.Bins[i-1].Hi)
		case b.Rows == 0:
			return i, fmt.Errorf("bin %d has no rows", i)
		}
		all += uint64(b.Rows)
	}
	if all != uint64(rows) {
		return 0, fmt.Errorf("the bins have %d rows, %d are without a value, the table has %d", all-uint64(c.Missing), c.Missing, rows)
	}
	return 0, nil
}

// checkVector checks the words of a vector.
func checkVector[W wah.Word](words []W, rows uint32, ones uint64) error {
	if err := wah.Validate(words, uint64(rows)); err != nil {
		return err
	}
	if n := wah.Count(words); n != ones {
		return fmt.Errorf("%d ones, its bins have %d rows", n, ones)
	}
	return nil
}
