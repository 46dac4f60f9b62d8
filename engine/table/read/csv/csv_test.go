package csv

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle/engine/file/input"
	"heddle/engine/plan/testneeds"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
	"heddle/engine/table/read/readtest"
)

// readCSV reads one CSV text.
func readCSV(t testing.TB, text string, opt Options) (readtest.Table, error) {
	t.Helper()
	opt.Stdin = strings.NewReader(text)
	s, err := Open(t.Context(), []string{"-"}, opt)
	return readtest.ReadAll(t, s, err)
}

// oracle is the result of encoding/csv for a text.
func oracle(text string, comma byte) ([][]string, error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\xef\xbb\xbf")))
	r.Comma = rune(comma)
	return r.ReadAll()
}

// lineFeeds is a text with LF in place of CR outside of quotes, if it has no LF.
func lineFeeds(text string) string {
	if strings.Contains(text, "\n") {
		return text
	}
	quoted, b := false, []byte(text)
	for i, c := range b {
		if quoted = quoted != (c == '"'); c == '\r' && !quoted {
			b[i] = '\n'
		}
	}
	return string(b)
}

// checkStrings compares a text, all of whose columns are strings, with encoding/csv.
func checkStrings(t *testing.T, text string, comma byte, size int) {
	t.Helper()
	want, wantErr := oracle(lineFeeds(text), comma)
	opt := Options{Dialect: Dialect{Delimiter: comma}, Invalid: input.Replace, Types: map[string]column.Declared{}, text: size, maxRecord: 1 << 20, sample: 1 << 12}
	first := csv.NewReader(strings.NewReader(strings.TrimPrefix(lineFeeds(text), "\xef\xbb\xbf")))
	first.Comma = rune(comma)
	record, err := first.Read()
	if err != nil {
		record = []string{""}
	}
	for i := range record {
		name := fmt.Sprint("c", i)
		opt.Names = append(opt.Names, name)
		opt.Types[name] = column.Declared{Type: column.String}
	}
	got, err := readCSV(t, text, opt)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%q: error %v, encoding/csv has %v", text, err, wantErr)
	}
	if err != nil {
		var where *input.Error
		var wanted *csv.ParseError
		if !errors.As(err, &where) || !errors.As(wantErr, &wanted) || where.Line < wanted.StartLine || where.Line > wanted.Line {
			t.Fatalf("%q: error %v, encoding/csv has %v", text, err, wantErr)
		}
		return
	}
	if len(record) == 1 { // encoding/csv has no records for empty lines
		got.Rows = slices.DeleteFunc(got.Rows, func(row []string) bool { return row[0] == readtest.Missing })
	}
	for _, row := range got.Rows {
		for i := range row {
			row[i] = strings.TrimPrefix(row[i], readtest.Missing)
			row[i] = strings.ReplaceAll(row[i], "\r\n", "\n") // encoding/csv changes line ends in quotes
		}
	}
	for _, row := range want {
		for i := range row {
			row[i] = strings.ToValidUTF8(row[i], "\ufffd")
		}
	}
	if len(got.Rows) != len(want) || !slices.EqualFunc(got.Rows, want, slices.Equal[[]string]) {
		t.Fatalf("%q: %q, encoding/csv has %q", text, got.Rows, want)
	}
}

var texts = map[string]string{
	"nothing":                "",
	"one field":              "a",
	"no end":                 "a,b\nc,d",
	"CR LF":                  "a,b\r\nc,d\r\n",
	"CR at the end":          "a,b\r\nc,d\r",
	"CR inside":              "a\rb,c\r\r\nd,e",
	"empty lines":            "\n\r\na,b\n\n\r\n\nc,d\n\n",
	"empty fields":           ",\n,\n",
	"quotes":                 "\"a\",\"b\"\n\"c\",d\n",
	"quoted separator":       "\"a,b\",c\n",
	"quoted quotes":          "\"a\"\"b\",\"\"\"\"\n\"\"\"\"\"\",\"\"\n",
	"quoted line ends":       "\"a\nb\r\nc\r\rd\r\r\n\",x\ny,z\n",
	"CR ends lines":          "a,b\rc,\"d\re\"\r\rf,g",
	"quoted at the end":      "a,\"b\"",
	"quoted CR at the end":   "a,\"b\"\r",
	"bare quote":             "a,b\nc,d\"e\nf,g\n",
	"quote goes on":          "a,b\n\"c\"d,e\n",
	"quote goes on with CR":  "a,b\n\"c\"\rd,e\n",
	"quote without end":      "a,b\n\"c,d\ne,f\n",
	"quote alone":            "a,b\n\"",
	"quote, CR":              "a,b\n\"x\r",
	"too few":                "a,b,c\nd,e\n",
	"too many":               "a,b\nc,d\ne,f,g\n",
	"mark":                   "\xef\xbb\xbfa,b\nc,d\n",
	"mark and quote":         "\xef\xbb\xbf\"a\",b\n",
	"no text":                "\xff\xfd,\x00\n\x80,\xc3\n",
	"blanks":                 " a , b \n\t, \n",
	"semicolons":             "a;b\n\"c;d\";e\n",
	"long":                   strings.Repeat("abcdefghij,klm\n", 1000),
	"long, quoted":           strings.Repeat("\"a\nb\"\"c\",\",\"\n", 1000),
	"a long field":           "a,b\n\"" + strings.Repeat("x\ny", 5000) + "\",c\nd,e\n",
	"wrong count, deep":      strings.Repeat("a,b\n", 777) + "c\n" + strings.Repeat("a,b\n", 100),
	"bare quote, deep":       strings.Repeat("\"a\n\",b\n", 777) + "c,d\"\n" + strings.Repeat("\"a\",b\n", 100),
	"two bare quotes, deep":  strings.Repeat("a,b\n", 777) + "c,d\"\ne\",f\n" + strings.Repeat("a,b\n", 100),
	"wrong count and quotes": "a,b\nc,\"d\",\"e\n\",f\n",
}

// TestCSV compares with encoding/csv, whatever is cut where.
func TestCSV(t *testing.T) {
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, 1 << 20} {
				checkStrings(t, text, ',', size)
			}
			checkStrings(t, text, ';', 7)
			checkStrings(t, text, '\t', 7)
		})
	}
}

// TestCSVLineEnds: line ends in quotes are part of the value, and CR alone ends lines.
func TestCSVLineEnds(t *testing.T) {
	for text, want := range map[string][]string{
		"s\n\"a\r\nb\"\n\"c\nd\"\n": {"a\r\nb", "c\nd"},
		"s\r\"a\rb\"\rc\r":          {"a\rb", "c"},
		"s\r\n\"a\r\r\n\"\r\n":      {"a\r\r\n"},
	} {
		got, err := readCSV(t, text, Options{})
		var values []string
		for _, row := range got.Rows {
			values = append(values, row[0])
		}
		if err != nil || !slices.Equal(values, want) {
			t.Errorf("%q: %q, %v, want %q", text, values, err, want)
		}
	}
}

// TestCSVLateValues infers the types of columns whose first value comes after the sample.
func TestCSVLateValues(t *testing.T) {
	testneeds.Sequential(t)
	var text strings.Builder
	text.WriteString("id,late,word,never\n")
	for i := range 3*sampleRows + 5 {
		late, word := "", ""
		if i > 2*sampleRows {
			late, word = fmt.Sprint(i), fmt.Sprint(i)
		}
		if i == 2*sampleRows+99 {
			word = "x"
		}
		fmt.Fprintf(&text, "%d,%s,%s,\n", i, late, word)
	}
	want := []read.Field{{Name: "id", Type: column.Int}, {Name: "late", Type: column.Int}, {Name: "word", Type: column.String}, {Name: "never", Type: column.String}}
	for _, more := range []int{0, 200_000} { // the sample holds the file, or its start
		path := readtest.Write(t, "late.csv.gz", text.String()+strings.Repeat("1,2,3,\n", more))
		s, err := Open(t.Context(), []string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if !slices.Equal(s.Fields(), want) {
			t.Errorf("%v, want %v", s.Fields(), want)
		}
		if got, err := readtest.ReadAll(t, s, nil); err != nil || len(got.Rows) != 3*sampleRows+5+more {
			t.Errorf("%d rows, %v", len(got.Rows), err)
		}
	}
}

// fuzzed is the length of texts that are not fuzzed.
const fuzzed = 1 << 10

// isUTF8Text reports whether an input is not converted or refused for its first bytes.
func isUTF8Text(t *testing.T, text string) bool {
	r, err := (&input.Opener{Ctx: t.Context(), Stdin: strings.NewReader(text)}).Open("-")
	if err != nil {
		return false
	}
	defer r.Close()
	if _, err := r.Text("-"); err != nil {
		return false
	}
	content, err := io.ReadAll(r)
	return err == nil && string(content) == strings.TrimPrefix(text, input.Mark)
}

// FuzzCSV compares with encoding/csv.
func FuzzCSV(f *testing.F) {
	for _, text := range texts {
		if len(text) < fuzzed {
			f.Add(text, byte(3))
		}
	}
	f.Fuzz(func(t *testing.T, text string, size byte) {
		if len(text) >= fuzzed || !isUTF8Text(t, text) {
			return
		}
		checkStrings(t, text, ',', 1+int(size))
	})
}

// TestCSVTypes infers each type, and reads values of it.
func TestCSVTypes(t *testing.T) {
	text := "int,float,string,bool,time,empty,mixed\n" +
		"1,1,a,true,2001-02-03,,1\n" +
		"-9223372036854775808,2.5,7,FALSE,2001-02-03 04:05:06,,x\n" +
		",,,,,,\n" +
		"+9223372036854775807,-1e300,\"\",True,2001-02-03T04:05:06.5Z,,2.5\n" +
		" 12 ,NaN,é,false, 2001-02-03 04:05 ,,true\n"
	got, err := readCSV(t, text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []read.Field{
		{Name: "int", Type: column.Int}, {Name: "float", Type: column.Float}, {Name: "string", Type: column.String}, {Name: "bool", Type: column.Bool},
		{Name: "time", Type: column.Timestamp}, {Name: "empty", Type: column.String}, {Name: "mixed", Type: column.String},
	}
	if !slices.Equal(got.Fields, want) {
		t.Fatalf("fields %v, want %v", got.Fields, want)
	}
	m := readtest.Missing
	rows := [][]string{
		{"1", "1", "a", "true", "2001-02-03T00:00:00Z", m, "1"},
		{"-9223372036854775808", "2.5", "7", "false", "2001-02-03T04:05:06Z", m, "x"},
		{m, m, m, m, m, m, m},
		{"9223372036854775807", "-1e+300", "", "true", "2001-02-03T04:05:06.5Z", m, "2.5"},
		{"12", "nan", "é", "false", "2001-02-03T04:05:00Z", m, "true"},
	}
	if !slices.EqualFunc(got.Rows, rows, slices.Equal[[]string]) {
		t.Fatalf("rows\n%q, want\n%q", got.Rows, rows)
	}
}

// types declares the type of one column.
func types(name string, typ column.Type, scale ...uint8) map[string]column.Declared {
	d := column.Declared{Type: typ}
	if len(scale) > 0 {
		d.Scale = scale[0]
	}
	return map[string]column.Declared{name: d}
}

// TestCSVOptions reads one text by options.
func TestCSVOptions(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		opt  Options
		want string
	}{
		"names":          {"1,2\n3,4\n", Options{Names: []string{"a", "b"}}, "a:int b:int [1 2] [3 4]"},
		"tabs":           {"a\tb\n1\t2,5\n", Options{Dialect: Dialect{Delimiter: '\t'}}, "a:int b:string [1 2,5]"},
		"columns":        {"a,b,c\n1,2,3\n", Options{Columns: []string{"c", "a"}}, "c:int a:int [3 1]"},
		"nulls":          {"a,b\nNA,NA\n1,\"NA\"\n\\N,x\n", Options{Null: []string{"NA", `\N`}}, "a:int b:string [- -] [1 NA] [- x]"},
		"a number null":  {"a\n-999\n5\n", Options{Null: []string{"-999"}}, "a:int [-] [5]"},
		"quoted null":    {"a\n\"NA\"\n\"5\"\n\"\"\n", Options{Null: []string{"NA"}}, "a:int [-] [5] [-]"},
		"type":           {"a,b\n007,1\n", Options{Types: types("a", column.String)}, "a:string b:int [007 1]"},
		"bool by digits": {"a\n0\n1\nt\n", Options{Types: types("a", column.Bool)}, "a:bool [false] [true] [true]"},
		"no names":       {",b,\n1,2,3\n", Options{}, "column1:int b:int column3:int [1 2 3]"},
		"header alone":   {"a,b\n", Options{}, "a:string b:string"},
		"names alone":    {"", Options{Names: []string{"a"}}, "a:string"},
		"infinite":       {"a\n-inf\n1\n+Inf\n", Options{}, "a:float [-inf] [1] [+inf]"},
		"unsigned":       {"a\n9223372036854775808\n+7\n", Options{}, "a:uint [9223372036854775808] [7]"},
		"too great":      {"a\n18446744073709551616\n", Options{}, "a:decimal128 [18446744073709551616]"},
		"NaN null":       {"a,b\nNaN,NaN\n1.5,Nan\nnan,\"nan\"\n", Options{Null: []string{"nan"}, Types: types("b", column.String)}, "a:float b:string [- NaN] [1.5 Nan] [- nan]"},
		"float32":        {"a\n26.352673\n1e30\n", Options{Types: types("a", column.Float32)}, "a:float32 [26.352673] [1e+30]"},
		"long years":     {"a,b\n12345-01-01,infinity\n", Options{Types: types("b", column.Timestamp)}, "a:timestamp b:timestamp [12345-01-01T00:00:00Z infinity]"},
		"infinite times": {"a\n2001-02-03\n-infinity\n", Options{}, "a:timestamp [2001-02-03T00:00:00Z] [-infinity]"},
		"decimals": {"a\n1\n-0.05\n12345678901234.5\n\n", Options{Types: types("a", column.Decimal, 2)},
			"a:decimal [1.00] [-0.05] [12345678901234.50] [-]"},
		"wide decimals": {"a,b\n 1e30 ,x\n-0.05,\n,y\n", Options{Types: types("a", column.Decimal128, 2)},
			"a:decimal128 b:string [1000000000000000000000000000000.00 x] [-0.05 -] [- y]"},
	} {
		got, err := readCSV(t, c.text, c.opt)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var parts []string
		for _, f := range got.Fields {
			parts = append(parts, f.Name+":"+f.Type.String())
		}
		for _, r := range got.Rows {
			parts = append(parts, strings.ReplaceAll(fmt.Sprint(r), readtest.Missing, "-"))
		}
		if s := strings.Join(parts, " "); s != c.want {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
	}
}

// TestCSVErrors breaks each rule.
func TestCSVErrors(t *testing.T) {
	many := "a,b\n" + strings.Repeat("1,2\n", 10100)
	for name, c := range map[string]struct {
		text string
		opt  Options
		want []string
	}{
		"no header":      {"", Options{}, []string{"-:1", "no header"}},
		"name in bytes":  {"a,\xff\n1,2\n", Options{}, []string{"-:1", `the name of column 2, "\xff", is not UTF-8`}},
		"a long string":  {"a\nx\n" + strings.Repeat("x", 1<<17), Options{}, []string{"-:3", `column "a": a string of 131072 bytes; at most 65536`}},
		"late string":    {many + "1,x%d\n", Options{Advice: true}, []string{"-:10102", `column "b"`, `"x%d" is not an integer`, "--type b=string"}},
		"late float":     {many + "1,2.5\n", Options{Advice: true}, []string{"-:10102", `"2.5"`, "--type b=float"}},
		"late, shifted":  {"\n\"a\nc\",b\n" + many[4:] + "1,2.5\n", Options{}, []string{"-:10104"}},
		"wrong type":     {"a\nx\n", Options{Types: types("a", column.Timestamp)}, []string{"-:2", `"x" is not a timestamp`}},
		"too great":      {"a\n9223372036854775808\n", Options{Types: types("a", column.Int)}, []string{"-:2", "is not an integer"}},
		"float, endless": {"a\n1e999\n", Options{Types: types("a", column.Float)}, []string{"-:2", "is not a number"}},
		"not true":       {"a\nyes\n", Options{Types: types("a", column.Bool)}, []string{"is not true or false"}},
		"late unsigned":  {many + "1,9223372036854775808\n", Options{Advice: true}, []string{"-:10102", "is not an integer", "--type b=uint"}},
		"negative uint":  {"a\n-1\n", Options{Types: types("a", column.Uint)}, []string{"-:2", `"-1" is not an integer from 0 to 18446744073709551615`}},
		"great float32":  {"a\n1e39\n", Options{Types: types("a", column.Float32)}, []string{"-:2", "is not a number in the range of float32"}},
		"long decimal": {"a\n1.234\n", Options{Types: types("a", column.Decimal, 2)},
			[]string{"-:2", `column "a": "1.234" is not a decimal with at most 2 digits behind the point and 18 in all`}},
		"no decimal":    {"a\n-x\n", Options{Types: types("a", column.Decimal, 2)}, []string{"-:2", `"-x" is not a decimal`}},
		"no wide":       {"a\n-x\n", Options{Types: types("a", column.Decimal128, 2)}, []string{"-:2", `"-x" is not a decimal`}},
		"great decimal": {"a\n1e19\n", Options{Types: types("a", column.Decimal)}, []string{"-:2", `"1e19" is not a decimal`}},
		"great wide":    {"a\n1e39\n", Options{Types: types("a", column.Decimal128)}, []string{"-:2", `"1e39" is not a decimal`, "38 in all"}},
		"late time":     {"a\n300000-01-01\n", Options{Types: types("a", column.Timestamp)}, []string{"-:2", `is not a timestamp`}},
		"too few":       {"a,b,c\n1,2\n", Options{}, []string{"-:2", "2 fields, the table has 3 columns"}},
		"too many":      {"a\n1\n2,3,4\n", Options{}, []string{"-:3", "3 fields, the table has 1 column"}},
		"a long record": {"a\n1\n" + strings.Repeat("2", 1<<20), Options{maxRecord: 1 << 18}, []string{"a record of more than 262144 bytes"}},
		"an open quote": {"a\n1\n\"" + strings.Repeat("2\n", 1<<20), Options{maxRecord: 1 << 18}, []string{"-:3", "a quoted field that does not end"}},
		"a long header": {strings.Repeat("a", 2<<20), Options{}, []string{"-:1", "the header does not end"}},
		"damaged gzip":  {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff", Options{}, []string{"damaged gzip data"}},
	} {
		_, err := readCSV(t, c.text, c.opt)
		t.Run(name, func(t *testing.T) { readtest.WantError(t, err, c.want...) })
	}
	for name, c := range map[string]struct {
		opt  Options
		want string
	}{
		"two of a name":     {Options{Names: []string{"a", "b", "a"}}, `two columns are called "a"`},
		"unknown type":      {Options{Types: types("x", column.Int)}, `types: there is no column "x"; there are a, b, c`},
		"unknown column":    {Options{Columns: []string{"bb"}}, `no column "bb"; there are a, b, c (nearest: "b")`},
		"a column twice":    {Options{Columns: []string{"b", "b"}}, `column "b" is named twice`},
		"quotes separating": {Options{Dialect: Dialect{Delimiter: '"'}}, "delimiter and quote are both"},
	} {
		if _, err := readCSV(t, "a,b,c\n1,2,3\n", c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestCSVFiles reads several files, gzipped or not, as one table.
func TestCSVFiles(t *testing.T) {
	a, b := readtest.Write(t, "a.csv", "x,y\n1,2\n3,4"), readtest.Write(t, "b.csv.gz", "x,y\r\n5,\r\n")
	s, err := Open(t.Context(), []string{a, b}, Options{})
	got, err := readtest.ReadAll(t, s, err)
	if err != nil || fmt.Sprintf("%q", got.Rows) != fmt.Sprintf("%q", [][]string{{"1", "2"}, {"3", "4"}, {"5", readtest.Missing}}) {
		t.Fatalf("%q, error %v", got.Rows, err)
	}
	done, total := s.Progress()
	if want := input.Size(a) + input.Size(b); done != want || total != want {
		t.Fatalf("progress %d of %d, want %d", done, total, want)
	}

	s, err = Open(t.Context(), []string{a, readtest.Write(t, "c.csv", "x,z\n1,2\n")}, Options{})
	_, err = readtest.ReadAll(t, s, err)
	readtest.WantError(t, err, "c.csv:", "the columns are x, z", "are x, y")
	s, err = Open(t.Context(), []string{a, readtest.Write(t, "c.csv", "x,y\n1,2\n3,v\n")}, Options{})
	_, err = readtest.ReadAll(t, s, err)
	readtest.WantError(t, err, "c.csv:3:", `"v"`)
	a, b = readtest.Write(t, "a.csv", "sep=,\nx,y\n1,2\n"), readtest.Write(t, "b.csv", "sep=;\nx;y\n1;2\n")
	s, err = Open(t.Context(), []string{a, b}, Options{})
	_, err = readtest.ReadAll(t, s, err)
	readtest.WantError(t, err, "b.csv:2:", `the first line names the delimiter ';'`, `a.csv is ','`)

	data, err := os.ReadFile(readtest.Write(t, "whole.csv.gz", "x\n"+strings.Repeat("123\n", 20000)))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{15, len(data) / 2, len(data) - 1} {
		s, err = Open(t.Context(), []string{readtest.Write(t, "half.csv", string(data[:n]))}, Options{})
		_, err = readtest.ReadAll(t, s, err)
		readtest.WantError(t, err, "half.csv", "truncated gzip data")
	}
	if _, err := Open(t.Context(), []string{a, a + ".none"}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("error %v, want that the second file is missing", err)
	}
}

// TestCSVCancel cancels a read from a terminal without further input.
func TestCSVCancel(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go w.Write([]byte("a\n" + strings.Repeat("1\n", sampleBytes)))
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Open(ctx, []string{"-"}, Options{Stdin: r})
	if err != nil {
		t.Fatal(err)
	}
	var b read.Batch
	if err := s.Next(ctx, &b); err != nil || b.Rows == 0 {
		t.Fatalf("%d rows, error %v", b.Rows, err)
	}
	cancel()
	for err == nil {
		err = s.Next(t.Context(), &b)
	}
	if !errors.Is(err, ctx.Err()) {
		t.Fatalf("error %v, want %v", err, ctx.Err())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkCSV(b *testing.B) {
	text := readtest.Flights(20 << 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s, err := Open(b.Context(), []string{"-"}, Options{Stdin: strings.NewReader(text)})
		if err != nil {
			b.Fatal(err)
		}
		var batch read.Batch
		for err == nil {
			err = s.Next(b.Context(), &batch)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkEncodingCSV measures package encoding/csv on the same text.
func BenchmarkEncodingCSV(b *testing.B) {
	text := readtest.Flights(20 << 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r := csv.NewReader(strings.NewReader(text))
		r.ReuseRecord = true
		var err error
		for err == nil {
			_, err = r.Read()
		}
	}
}
