package column

import (
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

// Compare gives the codes of the values v for which v op l holds, as ascending, disjoint
// ranges. A number is compared exactly with an Int, and as the nearest double with a
// Float, like in SQL. A number that is no value of the column, such as 59.5 of an Int,
// lies between values. A comparison with Null holds for no value. A literal of the wrong
// type is an error that names the type of the column.
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

// appendCodes appends the codes of keys lo to hi, if the column reaches there.
func (c *Column) appendCodes(out []plan.CodeRange, lo, hi uint64) []plan.CodeRange {
	greatest := c.Base + c.Bins[len(c.Bins)-1].Hi
	if lo > greatest || hi < c.Base {
		return out
	}
	return append(out, plan.CodeRange{Lo: max(lo, c.Base) - c.Base, Hi: min(hi, greatest) - c.Base})
}

func (c *Column) place(l Literal) (place, error) {
	var p place
	ok := false
	switch {
	case c.Type == Bool && l.Kind == Boolean:
		if p, ok = (place{}), true; l.Text == "true" {
			p.key = 1
		}
	case c.Type == Int && l.Kind == Number:
		var d decimal
		if d, ok = parseDecimal(l.Text); ok {
			p = d.place()
		}
	case c.Type == Float && l.Kind == Number:
		if _, ok = parseDecimal(l.Text); ok {
			p = floatPlace(l.Text)
		}
	case c.Type == Float && l.Kind == Text:
		if ok = infinite(l.Text); ok {
			p = floatPlace(l.Text)
		}
	case c.Type == String && l.Kind == Text:
		p, ok = c.stringPlace(l.Text), true
	case c.Type == Timestamp && l.Kind == Text:
		p, ok = timestampPlace(l.Text)
	}
	if !ok {
		return p, fmt.Errorf("column %q is of type %s: it compares with %s", c.Name, c.Type, wanted[c.Type])
	}
	return p, nil
}

var wanted = []string{
	Int:       "a number",
	Float:     "a number, 'inf' or '-inf'",
	String:    "a text in 'single quotes'",
	Bool:      "TRUE or FALSE",
	Timestamp: "a time such as '2001-02-03 04:05:06', '2001-02-03T04:05:06Z', '2001-02-03', or '@981173106' for seconds since 1970",
}

func (c *Column) stringPlace(s string) place {
	i, found := slices.BinarySearch(c.Dictionary, s)
	switch {
	case found:
		return place{uint64(i), 0}
	case i < len(c.Dictionary):
		return place{uint64(i), -1}
	}
	return last
}

// infinite recognises the texts of the two infinite values of a Float.
func infinite(s string) bool {
	return slices.Contains([]string{"inf", "+inf", "-inf"}, strings.ToLower(s))
}

// floatPlace takes a decimal or a text that is infinite.
func floatPlace(s string) place {
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case err == nil:
		return place{FloatKey(v), 0}
	case v > 0: // greater than every number, and less than infinity
		return place{FloatKey(math.MaxFloat64), 1}
	}
	return place{FloatKey(-math.MaxFloat64), -1}
}

func timestampPlace(s string) (place, bool) {
	if at, ok := strings.CutPrefix(s, "@"); ok {
		d, ok := parseDecimal(at)
		d.exp += 6
		return d.place(), ok
	}
	micros, ok := ParseTimestamp(s)
	return place{IntKey(micros), 0}, ok
}
