package csv

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/table/column"
	"heddle/engine/table/read/readtest"
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

// TestParsePlain compares with package strconv: a plain number has the bits of the nearest double.
func TestParsePlain(t *testing.T) {
	check := func(t rapid.TB, s string, plain bool) {
		want, err := strconv.ParseFloat(s, 64)
		p, ok := parsePlain([]byte(s))
		if ok != plain || ok && (err != nil || math.Float64bits(p.float()) != math.Float64bits(want)) {
			t.Fatalf("%q: %v of %v, %v; want %v, %v", s, p.float(), p, ok, want, plain)
		}
	}
	for _, s := range []string{
		"0", "-0", "+0", "-0.00", "1", "007", "0.1", "-12.5", "+2.675", "123456789012345", "-12345678901234.5", "0.00000000000001", "999999999999.999",
	} {
		check(t, s, true)
	}
	for _, s := range []string{
		"", "-", "+", ".", ".5", "5.", "-.5", "1.2.3", "1..2", "1e5", "1_0", "--1", "1 ", "nan", "inf", "0x1", ":", "/", "1,5",
		"1234567890123456", "0.000000000000001", "1234567890123.456", "00000000000000000000000000000000000001", "9007199254740993",
	} {
		check(t, s, false)
	}
	digits := rapid.StringMatching(`[+-]?[0-9]{1,7}(\.[0-9]{1,8})?`)
	rapid.Check(t, func(t *rapid.T) { check(t, digits.Draw(t, "digits"), true) })
}

// TestRepeatedTimes: times that come again, between missing, quoted, escaped and other values, are read as times
// that come once.
func TestRepeatedTimes(t *testing.T) {
	isMissing := map[string]bool{
		"2001-02-03": false, "2001-02-03 04:05": false, "1969-12-31T23:59:59Z": false, "\"2001-02-03\"": false, " 2001-02-03": false,
		"": true, "\"\"": true, "none": true,
	}
	options := func(text string) Options {
		return Options{Header: WithHeader, Null: []string{"none"}, Types: map[string]column.Declared{"a": {Type: column.Timestamp}, "b": {Type: column.TimestampNS}}, Stdin: strings.NewReader(text)}
	}
	read := func(t testing.TB, opt Options) [][]string {
		s, err := Open(t.Context(), []string{"-"}, opt)
		got, err := readtest.ReadAll(t, s, err)
		if err != nil {
			t.Fatal(err)
		}
		return got.Rows
	}
	alone := map[string][]string{}
	for text := range isMissing {
		alone[text] = read(t, options("a,b\n"+text+","+text+"\n"))[0]
		if missing := alone[text][0] == readtest.Missing; missing != isMissing[text] {
			t.Fatalf("%q is read as %q", text, alone[text])
		}
	}
	keys := slices.Sorted(maps.Keys(isMissing))
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.SliceOfN(rapid.SampledFrom(keys), 2, 40).Draw(r, "rows")
		file := "a,b\n"
		for i, text := range rows {
			file += text + "," + rows[len(rows)-1-i] + "\n"
		}
		opt := options(file)
		opt.text = rapid.IntRange(1, 300).Draw(r, "size")
		for i, got := range read(t, opt) {
			if want := []string{alone[rows[i]][0], alone[rows[len(rows)-1-i]][1]}; !slices.Equal(got, want) {
				r.Fatalf("row %d of %q: %q, want %q", i, file, got, want)
			}
		}
	})
}
