package column

import (
	"cmp"
	"math"
	"math/bits"
)

// group is the group of types whose values compare with one another.
func (t Type) group() int {
	switch {
	case t == String || t == Bool:
		return int(t)
	case t.IsTime():
		return int(Timestamp)
	}
	return int(Int)
}

// ComparesWith reports whether values of two types have an order.
func (t Type) ComparesWith(u Type) bool { return t.group() == u.group() }

// precedence orders types of numbers: a value compares as the nearest value of the type
// with the higher precedence, exactly unless that is a Float or Float32.
func (t Type) precedence() int {
	switch t {
	case Decimal128:
		return 0
	case Float32:
		return 2
	case Float:
		return 3
	}
	return 1
}

// sharesKeys reports whether the order of values of c and d is the order of their keys.
func (c *Column) sharesKeys(d *Column) bool {
	return c.Type == d.Type && c.Scale == d.Scale && !c.Type.HasDictionary()
}

// Shifts returns numbers such that the order of values of c and d is the order of base + code in c and other + code
// in d, if there are such numbers.
func (c *Column) Shifts(d *Column) (base, other uint64, ok bool) {
	unit := max(c.Unit, 1)
	if !c.sharesKeys(d) || c.Ranks != nil || d.Ranks != nil || max(d.Unit, 1) != unit {
		return 0, 0, false
	}
	if c.Base < d.Base {
		other, base, ok = d.Shifts(c)
		return base, other, ok
	}
	return (c.Base - d.Base) / unit, 0, (c.Base-d.Base)%unit == 0
}

// Order returns the order of values of c and d by their codes: negative, 0 or positive, as
// cmp.Compare. Numbers compare exactly, but with a Float or Float32 as the nearest value of
// this type. The types must compare (Type.ComparesWith).
func (c *Column) Order(d *Column) func(code, other uint64) int {
	if c.Type.precedence() > d.Type.precedence() {
		swapped := d.Order(c)
		return func(code, other uint64) int { return -swapped(other, code) }
	}
	if c.sharesKeys(d) {
		return func(code, other uint64) int { return cmp.Compare(c.Key(code), d.Key(other)) }
	}
	at := c.placesIn(d)
	return func(code, other uint64) int {
		p := at(code)
		return cmp.Or(cmp.Compare(p.key, d.Key(other)), p.side)
	}
}

// placesIn returns the places of values of c, by their codes, among the keys of d.
func (c *Column) placesIn(d *Column) func(code uint64) place {
	switch {
	case c.Type.HasDictionary():
		places := make([]place, len(c.Dictionary))
		for i, entry := range c.Dictionary {
			if c.Type == String {
				places[i] = d.entryPlace(entry, 0)
			} else {
				places[i], _ = d.numberPlace(Literal{Number, formatDecimal(KeyWide(entry).String(), c.Scale)})
			}
		}
		return func(code uint64) place {
			if i := c.Base + code; i < uint64(len(places)) {
				return places[i]
			}
			return last // the code of a row without a value
		}
	case c.Type == Float || d.Type == Float && c.Type == Float32:
		return func(code uint64) place { return d.floatPlace(c.Float(code)) }
	case d.Type == Float && c.Scale <= exactPowers:
		power := math.Pow10(int(c.Scale))
		return func(code uint64) place {
			if n := c.number(code); n.magnitude <= 1<<53 { // both are exact: one rounding
				return d.floatPlace(n.float() / power)
			}
			return d.textPlace(c.Format(code))
		}
	case d.Type == Float || d.Type == Float32:
		return func(code uint64) place {
			p, _ := d.numberPlace(Literal{Number, c.Format(code)})
			return p
		}
	}
	shift := d.units() - c.units()
	if c.Type.IsTime() {
		return func(code uint64) place { return timeIn(c.Key(code), c.number(code).shifted(shift, false)) }
	}
	return func(code uint64) place { return c.number(code).shifted(shift, d.Type == Uint) }
}

// exactPowers is the greatest power of ten that a Float holds exactly.
const exactPowers = 22

// units is the number of digits behind the point of a value in units of its keys.
func (c *Column) units() int {
	switch c.Type {
	case Timestamp:
		return 6
	case TimestampNS:
		return 9
	}
	return int(c.Scale)
}

// timeIn is the place of a time with a key in a type whose units give the place p.
func timeIn(key uint64, p place) place {
	switch {
	case key == IntKey(Infinity) || key == IntKey(-Infinity):
		return place{key, 0}
	case p.key >= IntKey(Infinity):
		return place{IntKey(Infinity), -1}
	case p.key <= IntKey(-Infinity):
		return place{IntKey(-Infinity), 1}
	}
	return p
}

// number is an integer of 64 bits with a sign.
type number struct {
	negative  bool
	magnitude uint64
}

// number is the value of a code in units of the last digit, of a type with such keys.
func (c *Column) number(code uint64) number {
	if c.Type == Uint {
		return number{false, c.Key(code)}
	}
	v := KeyInt(c.Key(code))
	if v < 0 {
		return number{true, -uint64(v)}
	}
	return number{false, uint64(v)}
}

func (n number) float() float64 {
	if n.negative {
		return -float64(n.magnitude)
	}
	return float64(n.magnitude)
}

// shifted is the place of n times 10^shift among the keys of integers.
func (n number) shifted(shift int, unsigned bool) place {
	most := uint64(math.MaxInt64)
	switch {
	case unsigned && n.negative:
		return first
	case unsigned:
		most = math.MaxUint64
	case n.negative:
		most = 1 << 63
	}
	size, side := n.magnitude, 0
	for ; shift < 0 && size > 0; shift++ {
		if size%10 != 0 {
			side = 1
		}
		size /= 10
	}
	for ; shift > 0 && size > 0; shift-- {
		high, low := bits.Mul64(size, 10)
		if size = low; high > 0 || low > most {
			return n.beyond()
		}
	}
	switch {
	case size > most:
		return n.beyond()
	case unsigned:
		return place{size, side}
	case n.negative:
		return place{IntKey(-int64(size)), -side}
	}
	return place{IntKey(int64(size)), side}
}

// beyond is the place of a number that is farther from 0 than all keys.
func (n number) beyond() place {
	if n.negative {
		return first
	}
	return last
}
