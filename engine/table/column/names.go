package column

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var (
	typeNames     = []string{"int", "float", "string", "bool", "timestamp", "uint", "float32", "decimal", "decimal128"}
	encodingNames = []string{"equality", "range", "interval"}
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

// ParseDeclared reads a type as a user declares it: a name, or decimal(P,S) for numbers of
// P digits, S of which stand behind the point. Up to 18 digits it is a Decimal, up to 38
// digits a Decimal128.
func ParseDeclared(text string) (t Type, scale uint8, err error) {
	arguments, ok := strings.CutPrefix(text, "decimal(")
	if !ok {
		declared := append(slices.Clone(typeNames[:Decimal]), "decimal(P,S)")
		i, err := parse("type", declared, text)
		return Type(i), 0, err
	}
	p, s, _ := strings.Cut(strings.TrimSuffix(arguments, ")"), ",")
	digits, err := strconv.ParseUint(strings.TrimSpace(p), 10, 8)
	behind, errScale := strconv.ParseUint(cmp.Or(strings.TrimSpace(s), "0"), 10, 8)
	if err != nil || errScale != nil || !strings.HasSuffix(arguments, ")") || digits < 1 || digits > MaxScale || behind > digits {
		return t, 0, fmt.Errorf("%q is not decimal(P,S) with 1 to %d digits P and 0 to P digits S behind the point", text, MaxScale)
	}
	if digits <= MaxDecimalDigits {
		return Decimal, uint8(behind), nil
	}
	return Decimal128, uint8(behind), nil
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

func nameOf(kind string, names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

func parse(kind string, names []string, name string) (int, error) {
	i := slices.Index(names, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %q (one of %s)", kind, name, strings.Join(names, ", "))
	}
	return i, nil
}
