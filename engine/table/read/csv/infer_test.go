package csv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/table/column"
	"heddle/engine/table/read/readtest"
)

// TestInference finds a type that holds the values of a column exactly, or warns.
func TestInference(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for name, x := range map[string]struct {
		values  string // separated by blanks
		want    string
		warning string // empty: none
	}{
		"int64":              {"-9223372036854775808 9223372036854775807", "int", ""},
		"uint64":             {"9223372036854775808 0 18446744073709551615", "uint", ""},
		"uint64, negative":   {"9223372036854775808 -1", "decimal128", ""},
		"beyond uint64":      {"18446744073709551616 +5", "decimal128", ""},
		"38 digits":          {nines + " -" + nines + " -000" + nines, "decimal128", ""},
		"codes":              {"0 1234 01234", "string", `-:4: column "a": "01234" begins with a zero, as codes do: the column has the type string (--type a=int takes numbers)`},
		"codes and a word":   {"01234 x", "string", ""},
		"zeros of numbers":   {"0 -07 00.5 0e1", "float", ""},
		"39 digits":          {"5 1" + nines + " 2" + nines, "float", `-:3: column "a": "1` + nines + `" is rounded: the column has the type float; --type a='decimal(38,S)' keeps 38 digits`},
		"39 digits, a point": {"5.5 +1" + nines, "float", `-:3: column "a": "+1` + nines + `" is rounded`},
		"17 digits, a point": {"-09007199254740993 5.5", "float", `-:2: column "a": "-09007199254740993" is rounded`},
		"floats":             {"-9223372036854776000 9007199254740992 0.1 900719925474.000005 000", "float", ""},
		"39 digits, a word":  {"x 1" + nines, "string", ""},
		"years":              {"12345-01-02 -0044-03-15 +294247-01-10", "timestamp", ""},
		"nanoseconds":        {"2001-02-03T04:05:06.123456789Z 2001-02-03", "timestamp_ns", ""},
		"zeros":              {"2001-02-03T04:05:06.123456000Z 9999-12-31", "timestamp", ""},
		"a year too far":     {"2001-02-03 5000000-01-01", "string", `-:3: column "a": "5000000-01-01" is no timestamp of one type with the others`},
		"picoseconds":        {"2001-02-03T04:05:06.1234567891Z", "string", `-:2: column "a": "2001-02-03T04:05:06.1234567891Z" is no timestamp`},
		"range of both":      {"2001-02-03T04:05:06.123456789Z 9999-12-31", "string", `-:3: column "a": "9999-12-31" is no timestamp of one type`},
		"years and a word":   {"5000000-01-01 x", "string", ""},
		"a sign":             {"+ -", "string", ""},
	} {
		var warnings []string
		got, err := readCSV(t, "a\n"+strings.ReplaceAll(x.values, " ", "\n")+"\n", Options{Warn: func(text string) { warnings = append(warnings, text) }})
		if err != nil || got.Fields[0].Type.String() != x.want {
			t.Errorf("%s: %v, error %v, want %s", name, got.Fields, err, x.want)
		}
		if text := strings.Join(warnings, "|"); !strings.HasPrefix(text, x.warning) || x.warning == "" && text != "" {
			t.Errorf("%s: warning %q, want %q", name, text, x.warning)
		}
	}
}

// TestInexactBehindSample warns of integers behind the rows that decide the types, unless a type is given.
func TestInexactBehindSample(t *testing.T) {
	text := "a,b,c\n" + strings.Repeat("1,1.5,18446744073709551615\n", sampleRows) + "0123,9007199254740993,007\n-04,2,08\n"
	a := `column "a": integers that begin with a zero, as codes do, and lose it: 1; the first: -:10002: "0123" (--type a=string keeps it)`
	b := `column "b": integers that the type float rounds: 1; the first: -:10002: "9007199254740993"`
	c := `column "c": integers that begin with a zero, as codes do, and lose it: 2; the first: -:10002: "007" (--type c=string keeps it)`
	for want, given := range map[string]map[string]column.Declared{a + b + c: nil, b + c: types("a", column.Int), a + b: types("c", column.Uint)} {
		var warnings string
		if _, err := readCSV(t, text, Options{Types: given, Warn: func(text string) { warnings += text }}); err != nil || warnings != want {
			t.Errorf("warning %q, error %v, want %q", warnings, err, want)
		}
	}
}

// TestLateInference warns of a line behind the first rows of a file.
func TestLateInference(t *testing.T) {
	text := "a,b\n" + strings.Repeat("x,\n", 5000) + "x,1" + strings.Repeat("0", 37) + "1\n"
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var warning string
	s, err := Open(t.Context(), []string{path}, Options{sample: 1 << 10, Warn: func(text string) { warning = text }})
	if _, err = readtest.ReadAll(t, s, err); err != nil || !strings.HasPrefix(warning, path+`:5002: column "b": `) {
		t.Errorf("warning %q, error %v", warning, err)
	}
	text = "7a\n" + strings.Repeat("\n", 5000) + "1\n" // a single column, whose name is no value
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), []string{path}, Options{sample: 1 << 10})
	if got, err := readtest.ReadAll(t, s, err); err != nil || got.Fields[0].Type != column.Int || len(got.Rows) != 5001 {
		t.Errorf("%v, %d rows, error %v", got.Fields, len(got.Rows), err)
	}
}

// TestDeclaredDigits refuses values with more digits than the declaration has.
func TestDeclaredDigits(t *testing.T) {
	for declared, x := range map[string]struct{ good, bad string }{
		"decimal(5,2)":   {"999.99 -999.99 000123.4 1e2 0", "1000 -1000.00 99999 1e3 0.001"},
		"decimal(1)":     {"9 -9", "10 -10"},
		"decimal(3,3)":   {"0.999 -.999", "1 -1.000"},
		"decimal(20,1)":  {"9999999999999999999.9", "10000000000000000000 -1e19"},
		"decimal(38,38)": {"0." + strings.Repeat("9", 38), "1 -1"},
	} {
		d, err := column.ParseDeclared(declared)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Types: map[string]column.Declared{"a": d}}
		if _, err := readCSV(t, "a\n"+strings.ReplaceAll(x.good, " ", "\n")+"\n", opt); err != nil {
			t.Errorf("%s: %v", declared, err)
		}
		for _, bad := range strings.Fields(x.bad) {
			_, err := readCSV(t, "a\n0\n"+bad+"\n", opt)
			readtest.WantError(t, err, "-:3", fmt.Sprintf("column %q: %q is not a decimal with at most %d digits behind the point and %d in all", "a", bad, d.Scale, d.Digits))
		}
	}
}
