package csv

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestParseInt compares with package strconv.
func TestParseInt(t *testing.T) {
	check := func(t rapid.TB, s string) {
		want, err := strconv.ParseInt(s, 10, 64)
		if got, ok := parseInt([]byte(s)); ok != (err == nil) || ok && got != want {
			t.Fatalf("%q: %d, %v; want %d, %v", s, got, ok, want, err)
		}
	}
	for _, s := range []string{
		"", "-", "+", "0", "-0", "+0", "007", "1 ", " 1", "1.", "1_0", "--1", "a", ":", "/",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551615", "18446744073709551616", "18446744073709551625", "99999999999999999999", "100000000000000000000000000",
		"000000000000000000000000000000000001", "-000000000000000000000009223372036854775808",
	} {
		check(t, s)
	}
	digits := rapid.StringMatching(`[+-]?[0-9]{0,22}`)
	rapid.Check(t, func(t *rapid.T) { check(t, digits.Draw(t, "digits")) })
}
