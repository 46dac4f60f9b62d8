package main

import (
	"os"
	"strings"
	"testing"
)

func TestBitmapUsage(t *testing.T) {
	inTempDir(t)
	writeFile(t, "t.csv", "a,b\n1,2\n")
	writeFile(t, "a", "\x01")
	for args, message := range map[string]string{
		"build t.csv":                                    "--output (-o) is missing",
		"build -o x.hdb":                                 "an input or --raw is missing",
		"build -o - t.csv":                               "a table cannot be written to standard output",
		"build -o x.hdb --raw a:u8:a t.csv":              "--raw and inputs exclude each other",
		"build -o x.hdb --raw a:u9:a":                    `unknown type "u9" (one of i8, `,
		"build -o x.hdb --raw a":                         `"a" is not NAME:TYPE:FILE`,
		"build -o x.hdb --raw a:u8:a --names b":          "--names does not apply to raw",
		"build -o x.hdb --raw a:u8:a --columns a":        "--columns does not apply to raw",
		"build -o x.hdb --format parquet --null - t.csv": "--null does not apply to parquet",
		"build -o x.hdb --raw a:u8:a --invalid skip":     "--invalid does not apply to raw",
		"build -o x.hdb --invalid ignore t.csv":          `flag --invalid: "ignore" is not one of replace, skip, fail`,
		"build -o x.hdb --format tsv t.csv":              `flag --format: "tsv" is not one of auto, csv, parquet (nearest: "csv")`,
		"build -o x.hdb --delimiter ;; t.csv":            `--delimiter ";;" is not tab or one ASCII character`,
		`build -o x.hdb --delimiter " t.csv`:             `delimiter and quote are both`,
		"build -o x.hdb - -":                             "standard input (-) is given twice",
		"build -o x.hdb --raw a:u8:- --raw b:u8:-":       "standard input (-) is given twice",
		"build -o x.hdb --bins 0 t.csv":                  "flag --bins: 0 is not from 1 to 10000",
		"build -o x.hdb --bins many t.csv":               "flag --bins",
		"build -o x.hdb --word 16 t.csv":                 "flag --word: 16 is not one of 0, 32, 64",
		"build -o x.hdb --binning best t.csv":            `flag --binning: "best" is not one of`,
		"build -o x.hdb --encoding none t.csv":           `flag --encoding: "none" is not one of`,
		"build -o x.hdb --set a t.csv":                   `--set "a" is not NAME:KEY=VALUE`,
		"build -o x.hdb --set a:bins=0 t.csv":            `--set "a:bins=0" has an invalid "bins": "0" is not a number from 1 to 10000`,
		"build -o x.hdb --set a:bins=10001 t.csv":        `"10001" is not a number from 1 to 10000`,
		"build -o x.hdb --set a:binning=x t.csv":         `has an invalid "binning"`,
		"build -o x.hdb --set a:encoding= t.csv":         `has an invalid "encoding"`,
		"build -o x.hdb --set a:size=3 t.csv":            `has an invalid "size": unknown key (one of bins, binning, encoding)`,
		"build -o x.hdb --type a t.csv":                  `--type "a" is not NAME=TYPE`,
		"build -o x.hdb --type a=date t.csv":             `unknown type "date" (one of int, float, string, bool, timestamp, uint, float32, timestamp_ns, decimal(P,S), or arrays of one of them, such as int[])`,
		"info":                                           "table file is missing",
		"verify a b":                                     `takes one table file, found also "b"`,
		"query":                                          "table file is missing",
		"query x.hdb":                                    "--where or --predicates is missing",
		"query x.hdb --where a --predicates b":           "--where and --predicates exclude each other",
		"query x.hdb --where a --count --rows":           "--count, --rows and --roaring exclude each other",
		"query x.hdb --where a --rows=all":               `flag --rows: "all" is not one of ids, ranges`,
		"query x.hdb --where a --rows ranges":            "write --rows=ranges, with an equals sign",
		"query x.hdb --predicates p --roaring r":         "--roaring is for one predicate",
		"query x.hdb --where a --roaring - --json":       "both write to standard output",
		"query x.hdb --where a --strategy zip":           `flag --strategy: "zip" is not one of`,
		"query x.hdb --where a --backend gpu":            `flag --backend: "gpu" is not one of`,
	} {
		t.Run(args, func(t *testing.T) {
			wantFailure(t, heddle(t, append([]string{"bitmap"}, strings.Fields(args)...)...), exitUsage, message)
		})
	}
	if f := files(t); f != "a t.csv" {
		t.Errorf("left behind: %s", f)
	}
}

// TestBitmapWrongInput checks that errors of inputs name file and position, and that no
// table remains.
func TestBitmapWrongInput(t *testing.T) {
	inTempDir(t)
	writeFile(t, "one", "\x01\x00")
	writeFile(t, "two", "\x01\x00\x02\x00")
	writeFile(t, "odd", "\x01\x00\x02")
	if err := os.Mkdir("dir", 0o777); err != nil {
		t.Fatal(err)
	}
	before := files(t)
	for _, test := range []struct {
		name, stdin, args string
		code              int
		message           string
	}{
		{"empty", "", "-", exitCorrupt, "-:1: no header: the file is empty"},
		{"too few", "a,b\n1,2\n3\n", "-", exitCorrupt, "-:3: 1 field, the table has 2 columns"},
		{"too many", "a,b\n\n1,2,3\n", "-", exitCorrupt, "-:3: 3 fields, the table has 2 columns"},
		{"quote", "a\nx\"y\n", "-", exitCorrupt, "-:2: a quote inside a field"},
		{"open quote", "a\n\"x\n", "-", exitCorrupt, "-:2: a quoted field that does not end"},
		{"name in bytes", "a,\xff\n1,2\n", "-", exitCorrupt, `-:1: the name of column 2, "\xff", is not UTF-8`},
		{"long text", "a\nx\n" + strings.Repeat("x", 70000) + "\n", "-", exitCorrupt, `-:3: column "a": a string of 70000 bytes; at most 65536 are possible`},
		{"late text", "a\n" + strings.Repeat("1\n", 10000) + "x\n", "-", exitCorrupt, `-:10002: column "a": "x" is not an integer (--type a=string takes it`},
		{"wrong type", "a\n2001-02-30\n", "--type a=timestamp -", exitCorrupt, `-:2: column "a": "2001-02-30" is not a timestamp`},
		{"cut gzip", zipped(t, "a\n1\n")[:20], "-", exitCorrupt, "-: byte 4: truncated gzip data"},
		{"no Parquet", "a\n", "--format parquet one", exitCorrupt, "one: "},
		{"uneven", "", "--raw a:i16:one --raw b:i16:two", exitCorrupt, `one: byte 2: column "a" ends after 1 values; "b" of two has 2 at least`},
		{"odd", "", "--raw a:i16:odd", exitCorrupt, `odd: byte 2: column "a": the file ends within a value of 2 bytes`},
		{"two of a raw name", "", "--raw a:i16:one --raw a:i16:one", exitFailure, `two columns are called "a"`},
		{"two of --names", "1,2\n", "--names a,a -", exitFailure, `two columns are called "a"`},
		{"--columns", "a,b\n1,2\n", "--columns a,bb -", exitUsage, `there is no column "bb"; there are a, b (nearest: "b")`},
		{"--type", "a,b\n1,2\n", "--type bb=int -", exitUsage, `types: there is no column "bb"; there are a, b (nearest: "b")`},
		{"--set", "a,b\n1,2\n", "--set bb:bins=2 -", exitUsage, `settings: there is no column "bb"; there are a, b (nearest: "b")`},
		{"folder", "", "dir", exitFailure, "the folder dir has no input files whose names end in .csv, .tsv or .parquet"},
		{"missing", "", "one none", exitFailure, "none: no such file"},
		{"missing raw", "", "--raw a:i8:none", exitFailure, "none: no such file"},
		{"folder as output", "a\n1\n", "-o dir -", exitFailure, "dir: not a regular file"},
		{"output in no folder", "a\n1\n", "-o none/x.hdb -", exitFailure, "none/"},
		{"input as output", "", "-o one one", exitFailure, "one is both an input and the output"},
		{"raw input as output", "", "-o one --raw a:i16:one", exitFailure, "one is both an input and the output"},
		{"little memory", "a\n" + manyTexts(3000), "--build-memory 64KiB -", exitFailure, "too small: this build needs at least"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.Contains(test.args, "parquet") {
				needsAll(t)
			}
			args := append(strings.Fields("bitmap build -o x.hdb"), strings.Fields(test.args)...)
			wantFailure(t, heddleWith(t, test.stdin, nil, args...), test.code, test.message)
			if f := files(t); f != before {
				t.Errorf("left behind: %s", f)
			}
		})
	}
	if text, err := os.ReadFile("one"); err != nil || string(text) != "\x01\x00" {
		t.Errorf("the input is now %q, %v", text, err)
	}
}

// manyTexts returns n different lines.
func manyTexts(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("x", i%100) + strings.Repeat("y", i/100) + "\n")
	}
	return b.String()
}

// TestBitmapReplaced checks that a failed build leaves an earlier table as it was.
func TestBitmapReplaced(t *testing.T) {
	inTempDir(t)
	writeFile(t, "t.csv", "a\n1\n")
	must(t, "bitmap", "build", "-o", "t.hdb", "t.csv")
	wantFailure(t, heddleWith(t, "a\n1,2\n", nil, "bitmap", "build", "-o", "t.hdb", "-"), exitCorrupt, "-:2")
	if got := must(t, "bitmap", "query", "t.hdb", "--where", "a = 1"); got != "1\t1\n" {
		t.Errorf("the table that was there gives %q", got)
	}
	if r := heddleWith(t, "a\n2\n", nil, "bitmap", "build", "-o", "t.hdb", "-"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	if got := must(t, "bitmap", "query", "t.hdb", "--where", "a = 1"); got != "1\t0\n" {
		t.Errorf("the table that took its place gives %q", got)
	}
	if f := files(t); f != "t.csv t.hdb" {
		t.Errorf("left behind: %s", f)
	}
}

func TestInterruptedBitmap(t *testing.T) {
	inTempDir(t)
	rows := "a\n" + strings.Repeat("12345\n", 50_000) // far more than a pipe holds
	code, said := interrupt(t, rows, "bitmap", "build", "-o", "new.hdb", "-")
	if code != exitFailure || said != "heddle bitmap build: interrupted\n" {
		t.Errorf("exit code %d, %q", code, said)
	}
	if f := files(t); f != "" {
		t.Errorf("left behind: %s", f)
	}
	writeFile(t, "t.csv", "a\n1\n")
	must(t, "bitmap", "build", "-o", "t.hdb", "t.csv")
	code, said = interrupt(t, "a = 1\n", "bitmap", "query", "t.hdb", "--predicates", "-")
	if code != exitFailure || said != "heddle bitmap query: interrupted\n" {
		t.Errorf("exit code %d, %q", code, said)
	}
}
