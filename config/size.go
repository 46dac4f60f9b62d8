package config

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Size is an amount of memory in bytes. In text it is a whole number with an
// optional unit: 1048576, "64KiB", "512 MiB", "2GB". Units with an i are powers of
// 1024, the other units powers of 1000. Case does not matter.
type Size uint64

var units = []struct {
	name  string
	bytes uint64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// page is the least number of bytes that a size may have without a unit, except 0: a
// smaller number is a size whose unit was forgotten.
const page = 4096

// ParseSize is the inverse of String. A number from 1 to 4095 needs a unit, such as B.
func ParseSize(s string) (Size, error) {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.ParseUint(s[:end], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size (like 1048576, \"512MiB\" or \"2GB\")", s)
	}
	unit := strings.TrimSpace(s[end:])
	if unit == "" {
		unit = "B"
		if 0 < n && n < page {
			return 0, fmt.Errorf("size %q needs a unit: write %dMiB, or %dB for bytes", s, n, n)
		}
	}
	for _, u := range units {
		if !strings.EqualFold(unit, u.name) {
			continue
		}
		hi, lo := bits.Mul64(n, u.bytes)
		if hi != 0 {
			return 0, fmt.Errorf("size %q is above 2^64 bytes", s)
		}
		return Size(lo), nil
	}
	return 0, fmt.Errorf("%q is not a unit of size (B, KiB, MiB, GiB, TiB, KB, MB, GB, TB)", unit)
}

// String returns s in the largest binary unit that divides it.
func (s Size) String() string {
	if s == 0 {
		return "0"
	}
	for _, u := range units[:4] {
		if uint64(s)%u.bytes == 0 {
			return fmt.Sprintf("%d%s", uint64(s)/u.bytes, u.name)
		}
	}
	if s < page {
		return fmt.Sprintf("%dB", uint64(s))
	}
	return strconv.FormatUint(uint64(s), 10)
}
