package column

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/config"
	"heddle/engine/syntax"
)

var (
	typeNames     = []string{"int", "float", "string", "bool", "timestamp", "uint", "float32", "decimal", "decimal128", "timestamp_ns"}
	encodingNames = []string{"equality", "range", "interval", "none"}
	binningNames  = []string{"auto", "distinct", "width", "quantile", "lloyd"}
)

func (t Type) String() string     { return nameOf("type", typeNames, uint8(t)) }
func (e Encoding) String() string { return nameOf("encoding", encodingNames, uint8(e)) }
func (b Binning) String() string  { return nameOf("binning", binningNames, uint8(b)) }

// ParseType finds a type by its name.
func ParseType(name string) (Type, error) {
	i, err := parse("type", typeNames, name)
	return Type(i), err
}

// Declared is a type as a user declares it.
type Declared struct {
	Type   Type
	Digits uint8 // digits of a decimal, before and after the point
	Scale  uint8 // digits of a decimal after the point
	List   bool  // a row has any number of values
}

// listSuffix marks the type of a multi-valued column.
const listSuffix = "[]"

// String returns the text that ParseDeclared reads.
func (d Declared) String() string {
	name := d.Type.String()
	if d.Type.IsDecimal() {
		name = fmt.Sprintf("decimal(%d,%d)", d.Digits, d.Scale)
	}
	if d.List {
		name += listSuffix
	}
	return name
}

// ParseDeclared reads the name of a type, or decimal(P,S) for numbers of P digits, S of
// which stand behind the point. Up to 18 digits it is a Decimal, up to 38 digits a
// Decimal128. With [] behind it, as in string[], a row has any number of values.
func ParseDeclared(text string) (d Declared, err error) {
	single, list := strings.CutSuffix(text, listSuffix)
	d, err = parseSingle(single)
	d.List = list && err == nil
	return d, err
}

func parseSingle(text string) (d Declared, err error) {
	arguments, ok := strings.CutPrefix(text, "decimal(")
	if !ok {
		i := slices.Index(typeNames, text)
		if i < 0 || Type(i).IsDecimal() {
			return d, fmt.Errorf("unknown type %s (one of %s)", syntax.Quote(text), strings.Join(declarable(), ", "))
		}
		return Declared{Type: Type(i)}, nil
	}
	p, s, _ := strings.Cut(strings.TrimSuffix(arguments, ")"), ",")
	digits, err := strconv.ParseUint(strings.TrimSpace(p), 10, 8)
	behind, errScale := strconv.ParseUint(cmp.Or(strings.TrimSpace(s), "0"), 10, 8)
	if err != nil || errScale != nil || !strings.HasSuffix(arguments, ")") || digits < 1 || digits > MaxScale || behind > digits {
		return d, fmt.Errorf("%s is not decimal(P,S) with 1 to %d digits P and 0 to P digits S behind the point", syntax.Quote(text), MaxScale)
	}
	d = Declared{Type: Decimal, Digits: uint8(digits), Scale: uint8(behind)}
	if digits > MaxDecimalDigits {
		d.Type = Decimal128
	}
	return d, nil
}

// declarable is the types that a user can declare.
func declarable() (names []string) {
	for i, name := range typeNames {
		if !Type(i).IsDecimal() {
			names = append(names, name)
		}
	}
	return append(names, "decimal(P,S)", "or arrays of one of them, such as int[]")
}

// MaxDecimalDigits is the number of digits that a Decimal always has room for.
const MaxDecimalDigits = 18

// ParseEncoding finds an encoding by its name.
func ParseEncoding(name string) (Encoding, error) {
	i, err := parse("encoding", encodingNames, name)
	return Encoding(i), err
}

// ParseBinning finds a binning by its name.
func ParseBinning(name string) (Binning, error) {
	i, err := parse("binning", binningNames, name)
	return Binning(i), err
}

// Named gives the number of the column with a name, letter by letter or else in any case.
func Named(columns []Column, name string) (int, error) {
	if len(columns) == 0 {
		return 0, errors.New("the table has no columns")
	}
	var names []string
	var same []int // columns with the name in upper or lower case
	for i, c := range columns {
		if c.Name == name {
			return i, nil
		}
		names = append(names, c.Name)
		if strings.EqualFold(c.Name, name) {
			same = append(same, i)
		}
	}
	switch len(same) {
	case 0:
		return 0, fmt.Errorf("unknown column %s%s", syntax.Quote(name), config.Hint("%q", name, names))
	case 1:
		return same[0], nil
	}
	return 0, fmt.Errorf("column %q is ambiguous: %q and %q differ in case only", name, names[same[0]], names[same[1]])
}

func nameOf(kind string, names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

func parse(kind string, names []string, name string) (int, error) {
	i := slices.Index(names, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %s (one of %s)", kind, syntax.Quote(name), strings.Join(names, ", "))
	}
	return i, nil
}
