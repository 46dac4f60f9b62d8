package column

import (
	"fmt"
	"slices"
	"strings"
)

var (
	typeNames     = []string{"int", "float", "string", "bool", "timestamp"}
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
