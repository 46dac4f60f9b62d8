package column

import (
	"sort"
	"strconv"
	"strings"
	"time"
)

// Format writes the value of a code as a literal of Compare without its quotes.
// Timestamps are in UTC. A code outside of the column gives "?".
func (c *Column) Format(code uint64) string {
	key := c.Base + code
	switch c.Type {
	case Int:
		return strconv.FormatInt(KeyInt(key), 10)
	case Float:
		return strings.ToLower(strconv.FormatFloat(KeyFloat(key), 'g', -1, 64))
	case Float32:
		return strings.ToLower(strconv.FormatFloat(float64(KeyFloat32(key)), 'g', -1, 32))
	case Uint:
		return strconv.FormatUint(key, 10)
	case Decimal:
		return formatDecimal(strconv.FormatInt(KeyInt(key), 10), c.Scale)
	case Bool:
		return strconv.FormatBool(key != 0)
	case Timestamp:
		return formatTimestamp(KeyInt(key))
	}
	switch {
	case key >= uint64(len(c.Dictionary)):
		return "?"
	case c.Type == Decimal128:
		return formatDecimal(KeyWide(c.Dictionary[key]).String(), c.Scale)
	}
	return c.Dictionary[key]
}

// Literal is the value of a code as a literal.
func (c *Column) Literal(code uint64) Literal {
	l := Literal{Kind: Number, Text: c.Format(code)}
	switch {
	case c.Type == Bool:
		l.Kind = Boolean
	case c.Type == Timestamp:
		l.Kind = Time
	case c.Type == String || special(l.Text):
		l.Kind = Text
	}
	return l
}

// formatTimestamp writes years from 0 to 9999 with four digits. Later years have more
// digits, and earlier years a minus sign.
func formatTimestamp(micros int64) string {
	switch micros {
	case Infinity:
		return "infinity"
	case -Infinity:
		return "-infinity"
	}
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.999999Z07:00")
}

// Find gives the bin of a code, or that behind the gap in which it lies and false.
func (c *Column) Find(code uint64) (bin int, ok bool) {
	bin = sort.Search(len(c.Bins), func(i int) bool { return code <= c.Bins[i].Hi })
	return bin, bin < len(c.Bins) && c.Bins[bin].Lo <= code
}
