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
	if key := c.Key(code); c.Type == String && key < uint64(len(c.Dictionary)) {
		return c.Dictionary[key]
	}
	return string(c.Append(nil, code))
}

// Append appends the Format of a code to dst.
func (c *Column) Append(dst []byte, code uint64) []byte {
	key := c.Key(code)
	switch c.Type {
	case Int:
		return strconv.AppendInt(dst, KeyInt(key), 10)
	case Float:
		return appendFloat(dst, c.Float(code), 64)
	case Float32:
		return appendFloat(dst, c.Float(code), 32)
	case Uint:
		return strconv.AppendUint(dst, key, 10)
	case Decimal:
		return append(dst, formatDecimal(strconv.FormatInt(KeyInt(key), 10), c.Scale)...)
	case Bool:
		return strconv.AppendBool(dst, key != 0)
	case Timestamp, TimestampNS:
		return appendTimestamp(dst, c.Type, KeyInt(key))
	}
	switch {
	case key >= uint64(len(c.Dictionary)):
		return append(dst, '?')
	case c.Type == Decimal128:
		return append(dst, formatDecimal(KeyWide(c.Dictionary[key]).String(), c.Scale)...)
	}
	return append(dst, c.Dictionary[key]...)
}

// appendFloat writes infinities and NaN in small letters.
func appendFloat(dst []byte, v float64, bits int) []byte {
	if v-v != 0 {
		return append(dst, strings.ToLower(strconv.FormatFloat(v, 'g', -1, bits))...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// Literal is the value of a code as a literal.
func (c *Column) Literal(code uint64) Literal {
	l := Literal{Kind: Number, Text: c.Format(code)}
	switch {
	case c.Type == Bool:
		l.Kind = Boolean
	case c.Type.IsTime():
		l.Kind = Time
	case c.Type == String || special(l.Text):
		l.Kind = Text
	}
	return l
}

// appendTimestamp writes years from 0 to 9999 with four digits. Later years have more
// digits, and earlier years a minus sign.
func appendTimestamp(dst []byte, t Type, n int64) []byte {
	switch n {
	case Infinity:
		return append(dst, "infinity"...)
	case -Infinity:
		return append(dst, "-infinity"...)
	}
	at := time.UnixMicro(n)
	if t == TimestampNS {
		at = time.Unix(0, n)
	}
	return at.UTC().AppendFormat(dst, "2006-01-02T15:04:05.999999999Z07:00")
}

// Find gives the bin of a code, or that behind the gap in which it lies and false.
func (c *Column) Find(code uint64) (bin int, ok bool) {
	bin = sort.Search(len(c.Bins), func(i int) bool { return code <= c.Bins[i].Hi })
	return bin, bin < len(c.Bins) && c.Bins[bin].Lo <= code
}
