package column

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/engine/plan"
)

// Kind is the kind of a Literal.
type Kind uint8

const (
	Null Kind = iota
	Boolean
	Number
	Text
	Time // a text that is a time: DATE '2001-02-03'
)

// Literal is a value as a predicate writes it.
type Literal struct {
	Kind Kind
	Text string // "true" or "false"; a number with sign, point, exponent; the text itself
}

// Op compares the value of a row with a literal.
type Op uint8

const (
	Eq Op = iota
	Ne
	Lt
	Le
	Gt
	Ge
)

func (o Op) String() string { return []string{"=", "<>", "<", "<=", ">", ">="}[o] }

// Not is true where o is false.
func (o Op) Not() Op { return []Op{Ne, Eq, Ge, Gt, Le, Lt}[o] }

// Swap is o with its sides exchanged.
func (o Op) Swap() Op { return []Op{Eq, Ne, Gt, Ge, Lt, Le}[o] }

// Holds reports whether o is true for values in an order: negative, 0 or positive, as
// cmp.Compare.
func (o Op) Holds(order int) bool {
	return []bool{order == 0, order != 0, order < 0, order <= 0, order > 0, order >= 0}[o]
}

// place is where a literal stands among keys: just below key, at it, or just above.
// Every literal has one, at the ends of the keys too.
type place struct {
	key  uint64
	side int // -1, 0 or 1
}

var (
	first = place{0, -1}
	last  = place{math.MaxUint64, 1}
)

// below is the greatest key less than the literal, or equal to it where that counts.
func (p place) below(equal bool) (key uint64, ok bool) {
	if p.side > 0 || p.side == 0 && equal {
		return p.key, true
	}
	return p.key - 1, p.key > 0
}

// above is the least key greater than the literal, or equal to it where that counts.
func (p place) above(equal bool) (key uint64, ok bool) {
	if p.side < 0 || p.side == 0 && equal {
		return p.key, true
	}
	return p.key + 1, p.key < math.MaxUint64
}

// Compare gives the codes of the values v for which v op l holds, as ascending, disjoint ranges. A
// number is compared exactly with an Int, Uint, Decimal or Decimal128, and as the nearest value of
// the type with a Float or Float32, like in SQL. A number that is no value of the column, such as
// 59.5 of an Int, lies between values. A comparison with Null holds for no value. A literal of the
// wrong type is an error that names the type of the column.
func (c *Column) Compare(op Op, l Literal) ([]plan.CodeRange, error) {
	if l.Kind == Null {
		return nil, nil
	}
	p, err := c.place(l)
	if err != nil || len(c.Bins) == 0 {
		return nil, err
	}
	var out []plan.CodeRange
	if op == Lt || op == Le || op == Ne {
		if hi, ok := p.below(op == Le); ok {
			out = c.appendCodes(out, 0, hi)
		}
	}
	if op == Gt || op == Ge || op == Ne {
		if lo, ok := p.above(op == Ge); ok {
			out = c.appendCodes(out, lo, math.MaxUint64)
		}
	}
	if op == Eq && p.side == 0 {
		out = c.appendCodes(out, p.key, p.key)
	}
	return out, nil
}

// AtLeast gives the least code of the values that are not below a literal; false if there is none.
// Errors: of Compare.
func (c *Column) AtLeast(l Literal) (code uint64, ok bool, err error) {
	p, err := c.place(l)
	if err != nil || len(c.Bins) == 0 {
		return 0, false, err
	}
	key, ok := p.above(true)
	if r := c.appendCodes(nil, key, math.MaxUint64); ok && len(r) > 0 {
		return r[0].Lo, true, nil
	}
	return 0, false, nil
}

// Parse gives the key of a value of a number or time, as a predicate writes it without quotes.
func (c *Column) Parse(text string) (key uint64, err error) {
	l := Literal{Number, text}
	if c.Type.IsTime() {
		l.Kind = Time
	}
	p, err := c.place(l)
	if err == nil && p.side != 0 {
		err = fmt.Errorf("%s is no value of column %q, which is of type %s", strconv.Quote(text), c.Name, c.TypeName())
	}
	return p.key, err
}

// Less tells whether literal a is below literal b, both of a kind that c compares with. It does not
// depend on the values that c has.
func (c *Column) Less(a, b Literal) bool {
	if a.Kind == Number && b.Kind == Number {
		d, _ := parseDecimal(a.Text)
		e, _ := parseDecimal(b.Text)
		return d.compare(e) < 0
	}
	if c.Type == String {
		return a.Text < b.Text
	}
	p, _ := c.place(a)
	q, _ := c.place(b)
	return cmp.Or(cmp.Compare(p.key, q.key), cmp.Compare(p.side, q.side)) < 0
}

// Match gives the codes of the strings with a prefix for which match is true, as
// ascending, disjoint ranges.
func (c *Column) Match(prefix string, match func(string) bool) []plan.CodeRange {
	var out []plan.CodeRange
	if len(c.Bins) == 0 {
		return nil
	}
	i, _ := slices.BinarySearch(c.Dictionary, prefix)
	for ; i < len(c.Dictionary) && strings.HasPrefix(c.Dictionary[i], prefix); i++ {
		if !match(c.Dictionary[i]) {
			continue
		}
		code := c.appendCodes(nil, uint64(i), uint64(i))
		if n := len(out); n > 0 && len(code) > 0 && out[n-1].Hi+1 == code[0].Lo {
			out[n-1].Hi = code[0].Hi
			continue
		}
		out = append(out, code...)
	}
	return out
}

// appendCodes appends the codes of keys lo to hi, if there are any.
func (c *Column) appendCodes(out []plan.CodeRange, lo, hi uint64) []plan.CodeRange {
	least, greatest := c.Key(0), c.Key(c.Bins[len(c.Bins)-1].Hi)
	if lo > greatest || hi < least {
		return out
	}
	from, _ := c.Code(max(lo, least))
	to, exact := c.Code(min(hi, greatest))
	if !exact {
		to--
	}
	if from > to { // both lie between the same two keys
		return out
	}
	return append(out, plan.CodeRange{Lo: from, Hi: to})
}

func (c *Column) place(l Literal) (place, error) {
	var p place
	ok := false
	switch c.Type {
	case Bool:
		if ok = l.Kind == Boolean; ok && l.Text == "true" {
			p.key = 1
		}
	case String:
		p, ok = c.entryPlace(l.Text, 0), l.Kind == Text
	case Timestamp, TimestampNS:
		if l.Kind == Text || l.Kind == Time {
			p, ok = literalTime(c.Type, l.Text)
		}
	default:
		p, ok = c.numberPlace(l)
	}
	if !ok {
		return p, fmt.Errorf("column %q is of type %s: it compares with %s", c.Name, c.Type, wanted[c.Type])
	}
	return p, nil
}

// numberPlace is the place in a column of numbers.
func (c *Column) numberPlace(l Literal) (place, bool) {
	d, ok := parseDecimal(l.Text)
	ok = ok && l.Kind == Number
	if c.Type == Float || c.Type == Float32 {
		ok = ok || l.Kind == Text && special(l.Text)
	}
	if !ok {
		return place{}, false
	}
	d.exp += int(c.Scale)
	switch c.Type {
	case Float, Float32:
		return c.textPlace(l.Text), true
	case Uint:
		return d.uintPlace(), true
	case Decimal128:
		return c.widePlace(d), true
	}
	return d.place(), true
}

var wanted = []string{
	Int:         "a number",
	Float:       "a number, 'inf', '-inf' or 'nan'",
	String:      "a text in 'single quotes'",
	Bool:        "TRUE or FALSE",
	Timestamp:   wantedTime,
	Uint:        "a number",
	Float32:     "a number, 'inf', '-inf' or 'nan'",
	Decimal:     "a number",
	Decimal128:  "a number",
	TimestampNS: wantedTime,
}

const wantedTime = "a time such as '2001-02-03 04:05:06', '2001-02-03T04:05:06Z', '2001-02-03', '@981173106' for seconds since 1970, 'infinity' or '-infinity'"

// widePlace is the place of d, counted in units of the last digit, in a Decimal128.
func (c *Column) widePlace(d decimal) place {
	v, side, ok := d.integer()
	key, err := WideKey(v)
	switch {
	case ok && err == nil:
		return c.entryPlace(string(key[:]), side)
	case d.negative:
		return first
	}
	return last
}

// entryPlace is the place of an entry in the dictionary, or on a side of this entry.
func (c *Column) entryPlace(s string, side int) place {
	i, found := slices.BinarySearch(c.Dictionary, s)
	switch {
	case found:
		return place{uint64(i), side}
	case i < len(c.Dictionary):
		return place{uint64(i), -1}
	}
	return last
}

// special recognises the texts of the values of a Float that are no numbers.
func special(s string) bool {
	return slices.Contains([]string{"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity", "nan"}, strings.ToLower(s))
}

// textPlace is the place of a decimal or a special text in a Float or Float32.
func (c *Column) textPlace(s string) place {
	bits, most := 64, math.MaxFloat64
	if c.Type == Float32 {
		bits, most = 32, math.MaxFloat32
	}
	v, err := strconv.ParseFloat(s, bits)
	switch {
	case err == nil:
		return c.floatPlace(v)
	case v > 0: // greater than every number, and less than infinity
		return place{c.floatPlace(most).key, 1}
	}
	return place{c.floatPlace(-most).key, -1}
}

// literalTime is the place of a time, or of a number of seconds since 1970 behind an @.
func literalTime(t Type, s string) (place, bool) {
	if at, ok := strings.CutPrefix(s, "@"); ok {
		d, ok := parseDecimal(at)
		d.exp += 6
		if t == TimestampNS {
			d.exp += 3
		}
		return d.place(), ok
	}
	return timePlace(t, s)
}
