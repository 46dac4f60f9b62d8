package csv

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/read/readtest"
)

// content writes a table in a line: names with types, then rows; "-" is a missing value.
func content(got readtest.Table) string {
	var parts []string
	for _, f := range got.Fields {
		parts = append(parts, f.Name+":"+f.Type.String())
	}
	for _, r := range got.Rows {
		parts = append(parts, "["+strings.ReplaceAll(strings.Join(r, "|"), readtest.Missing, "-")+"]")
	}
	return strings.Join(parts, " ")
}

// TestDialects reads one text by each property of a dialect. The values are of DuckDB's read_csv and of pandas, with
// the names of heddle.
func TestDialects(t *testing.T) {
	long := strings.Repeat("x", 65535) + "é"
	for name, c := range map[string]struct {
		text    string
		opt     Options
		want    string
		warning string // a part of the warnings; empty: none
	}{
		"semicolons":         {"a;b\n1,5;x\n2,5;y\n", Options{}, "a:string b:string [1,5|x] [2,5|y]", "-: the delimiter is a semicolon"},
		"decimal comma":      {"a;b\n1,5;x\n1.234,25;y\n-7;\n", Options{Dialect: Dialect{Decimal: ','}}, "a:float b:string [1.5|x] [1234.25|y] [-7|-]", "semicolon"},
		"integers in groups": {"a;b\n1.234;1\n12.345.678;2\n", Options{Dialect: Dialect{Decimal: ','}}, "a:int b:int [1234|1] [12345678|2]", "semicolon"},
		"no groups":          {"a;b\n1.23;1\n1.2345;2\n", Options{Dialect: Dialect{Decimal: ','}}, "a:string b:int [1.23|1] [1.2345|2]", "semicolon"},
		"first groups":       {"a;b;c\n1234.567;.123;1.234,5.6\n", Options{Dialect: Dialect{Decimal: ','}}, "a:string b:string c:string [1234.567|.123|1.234,5.6]", "semicolon"},
		"a point":            {"a;b\n1.5;1 234,5\n", Options{Dialect: Dialect{Decimal: ',', Thousands: ' '}}, "a:string b:float [1.5|1234.5]", "semicolon"},
		"thousands":          {"a,b\n\"1,234.5\",1\n\"12\",2\n", Options{Dialect: Dialect{Thousands: ','}}, "a:float b:int [1234.5|1] [12|2]", ""},
		"blanks":             {"a;b\n1\u00a0234;1\n1\u202f234 567;2\n", Options{Dialect: Dialect{Thousands: ' '}}, "a:int b:int [1234|1] [1234567|2]", "semicolon"},
		"pipes":              {"a|b,c\n1|x,y\n2|z\n", Options{}, "a:int b,c:string [1|x,y] [2|z]", "the delimiter is a pipe"},
		"tabs":               {"a\tb\n\"1\n2\"\t;\n", Options{}, "a:string b:string [1\n2|;]", "the delimiter is a tab"},
		"a comma in all":     {"a,b;c\n1,2;3\n", Options{}, "a:int b;c:string [1|2;3]", ""},
		"one column":         {"a\nx;y\nz,w;v\n", Options{Dialect: Dialect{Delimiter: '|'}}, "a:string [x;y] [z,w;v]", ""},
		"one field each":     {"name\nx;y\nz\n", Options{}, "name:string [x;y] [z]", ""},
		"quoted delimiters":  {"a;b\n\"1,2\";\"x;y\"\n", Options{}, "a:string b:string [1,2|x;y]", "semicolon"},
		"no quotes":          {"a\tb\n1\t5\" disk\n2\t\"Weird Al\"\n", Options{Dialect: Dialect{Delimiter: '\t', NoQuote: true}}, "a:int b:string [1|5\" disk] [2|\"Weird Al\"]", ""},
		"other quotes":       {"a,b\n'x,1','it''s \"so\"'\n", Options{Dialect: Dialect{Quote: '\''}}, "a:string b:string [x,1|it's \"so\"]", ""},
		"escapes":            {"a,b\n\"x\\\"y\",\"\\\\\"\n\"\\n\",\\N\n", Options{Dialect: Dialect{Escape: '\\'}, Null: []string{`\N`}}, "a:string b:string [x\"y|\\] [\\n|-]", ""},
		"escapes, no quotes": {"a,b\nx\\,y,\"z\\\n2\"\n", Options{Dialect: Dialect{Escape: '\\', NoQuote: true}}, "a:string b:string [x,y|\"z\n2\"]", ""},
		"quotes as escapes":  {"a,b\n\"x\"\"y\",z\n", Options{Dialect: Dialect{Escape: '"'}}, "a:string b:string [x\"y|z]", ""},
		"comments":           {"# it's 5\" long\na,b\n#x\n1,#2\n", Options{Dialect: Dialect{Comment: '#'}}, "a:int b:string [1|#2]", ""},
		"skipped lines":      {"report \"x\nof today\n\na,b\n1,2\n", Options{Dialect: Dialect{SkipLines: 2}}, "a:int b:int [1|2]", ""},
		"all lines skipped":  {"a\n", Options{Dialect: Dialect{SkipLines: 2}, Names: []string{"a", "b"}}, "a:string b:string", ""},
		"latin1":             {"a,b\ncaf\xe9,\x80\n", Options{Dialect: Dialect{Encoding: "latin1"}}, "a:string b:string [café|\u0080]", ""},
		"windows-1252":       {"a,b\ncaf\xe9,\x80\n", Options{Dialect: Dialect{Encoding: "windows-1252"}}, "a:string b:string [café|€]", ""},
		"UTF-16, no mark":    {"a\x00\n\x00\xe9\x00\n\x00", Options{Dialect: Dialect{Encoding: "utf-16"}}, "a:string [é]", ""},
		"UTF-16, high first": {"\x00a\x00\n\x00\xe9\x00\n", Options{Dialect: Dialect{Encoding: "utf-16"}}, "a:string [é]", ""},
		"UTF-16 and a mark":  {"\xfe\xff\x00a\x00\n\x00\xe9\x00\n", Options{Dialect: Dialect{Encoding: "utf-16"}}, "a:string [é]", ""},
		"zeros":              {"a\n\x00\x00\x00\x00\n", Options{Dialect: Dialect{Encoding: "utf-8"}}, "a:string [\x00\x00\x00\x00]", ""},

		"no Go syntax":    {"a,b,c\n2024_01,0x1p4,1e5_0\n1_5,0b1,1\n", Options{}, "a:string b:string c:string [2024_01|0x1p4|1e5_0] [1_5|0b1|1]", ""},
		"a blank row":     {"a\n1\n\n3\n\n", Options{}, "a:int [1] [-] [3] [-]", ""},
		"a blank text":    {"a\nx\n\n\"\"\n\r\n", Options{}, "a:string [x] [-] [] [-]", ""},
		"blank lines":     {"a,b\n1,2\n\n3,4\n\n", Options{}, "a:int b:int [1|2] [3|4]", ""},
		"blank first row": {"\nx\n", Options{Names: []string{"a"}}, "a:string [-] [x]", ""},

		"rows of numbers":     {"1,2\n3,4\n", Options{}, "column1:int column2:int [1|2] [3|4]", "-:1: the first record is a row and no header"},
		"rows of text":        {"x,2,y\nz,4,w\n", Options{}, "column1:string column2:int column3:string [x|2|y] [z|4|w]", "the first record is a row"},
		"rows in steps":       {"1,2,3\n4,5,6\n", Options{}, "column1:int column2:int column3:int [1|2|3] [4|5|6]", "the first record is a row"},
		"a row of zeros":      {"0,0,0\n1,2,3\n", Options{}, "column1:int column2:int column3:int [0|0|0] [1|2|3]", "the first record is a row"},
		"years":               {"land,2001,2002,2003\nx,5,7,6\n", Options{}, "land:string 2001:int 2002:int 2003:int [x|5|7|6]", ""},
		"an index":            {",b,1\n0,x,y\n", Options{}, "column1:int b:string 1:string [0|x|y]", ""},
		"times":               {"at,2001-02-03\n2001-02-03,7\n", Options{}, "at:timestamp 2001-02-03:int [2001-02-03T00:00:00Z|7]", ""},
		"one row":             {"1,2.5\n", Options{}, "column1:int column2:float [1|2.5]", "the first record is a row"},
		"one row, a word":     {"1,x\n", Options{}, "1:string x:string", ""},
		"quoted names":        {"\"1\",\"2\"\n3,4\n", Options{}, "1:int 2:int [3|4]", ""},
		"a header of numbers": {"1,2\n3,4\n", Options{Header: WithHeader}, "1:int 2:int [3|4]", ""},
		"no header":           {"a,b\n3,4\n", Options{Header: NoHeader}, "column1:string column2:string [a|b] [3|4]", ""},
		"names for names":     {"a,a\n3,4\n", Options{Header: WithHeader, Names: []string{"x", "y"}}, "x:int y:int [3|4]", ""},
		"equal names":         {"a,b,a,a_1,a,\n1,2,3,4,5,6\n", Options{}, "a:int b:int a_2:int a_1:int a_3:int column6:int [1|2|3|4|5|6]", `-:1: columns have equal names: the second "a", column 3, is called "a_2"`},
		"blanks at names":     {"a, b ,\" c\",  \n1,2,3,4\n", Options{}, "a:int b:int  c:int column4:int [1|2|3|4]", ""},
		"codes, no header":    {"01234,1\n5678,2\n", Options{}, "column1:string column2:int [01234|1] [5678|2]", "the first record is a row"},
		"a time with a tab":   {"a\tb\n\"\t2001-02-03\"\t1\n\t2001-02-03\n", Options{Dialect: Dialect{Delimiter: '\t'}, Types: types("a", column.Timestamp)}, "a:timestamp b:string [2001-02-03T00:00:00Z|1] [-|2001-02-03]", ""},
		"one of equal names":  {"a,b,a\n1,2,3\n", Options{Columns: []string{"b", "a_1"}}, "b:int a_1:int [2|3]", "equal names"},
		"a header again":      {"a,b\n1,x\na,b\n2,y\na,b\r\n", Options{}, "a:int b:string [1|x] [2|y]", "-:3: the header again, left out|lines that repeat the header: 2"},
		"a header of texts":   {"a,b\nx,x\na,b\n", Options{}, "a:string b:string [x|x] [a|b]", "-:3: the header again, read as a row"},
		"an equal column":     {"a\nx\na\n", Options{}, "a:string [x] [a]", ""},
		"types, no row":       {"a,b\n", Options{Types: types("a", column.Int)}, "a:int b:string", ""},

		"Excel's line":         {"sep=;\r\na;b\r\n1;x,y\r\n", Options{}, "a:int b:string [1|x,y]", ""},
		"Excel's quoted line":  {"\xef\xbb\xbf\"SEP=|\"\na|b\n1|2\n", Options{}, "a:int b:int [1|2]", ""},
		"Excel's line, given":  {"sep=;\na,b\n1,;\n", Options{Dialect: Dialect{Delimiter: ','}}, "a:int b:string [1|;]", ""},
		"Excel's line, marked": {"#\nsep=\t\na\tb\n1\t2\n", Options{Dialect: Dialect{SkipLines: 1}}, "a:int b:int [1|2]", ""},
		"no line of Excel":     {"sep=;b\n1;2\n", Options{}, "sep=:int b:int [1|2]", "semicolon"},

		"rounded": {"a,b,c\n16777217,16777217,1\n16777216,9007199254740993,+9007199254740993\n0.1,7,-16777219\n", Options{Types: map[string]column.Declared{"a": {Type: column.Float32}, "b": {Type: column.Float}, "c": {Type: column.Float32}}},
			"a:float32 b:float c:float32 [1.6777216e+07|1.6777217e+07|1] [1.6777216e+07|9.007199254740992e+15|9.007199e+15] [0.1|7|-1.677722e+07]",
			`column "a": integers that the type float32 rounds: 1; the first: -:2: "16777217"|column "b": integers that the type float rounds: 1; the first: -:3: "9007199254740993"|column "c": integers that the type float32 rounds: 2; the first: -:3: `},
		"short, padded": {"a,b,c\n1\n\n2,3,4\n5,6,7,,\n", Options{Ragged: Pad}, "a:int b:int c:int [1|-|-] [2|3|4] [5|6|7]", ""},
		"skipped":       {"a,b\n1,x\n2\n3,y,z\n\"4\n\",w\n5,v\n", Options{Ragged: Skip}, "a:string b:string [1|x] [4\n|w] [5|v]", "records with a wrong number of fields, left out: 2; the first: -:3"},
		"unfit":         {"a,b\n1,x\nz,y\n3,w\n", Options{Invalid: input.Skip, Types: types("a", column.Int)}, "a:int b:string [1|x] [3|w]", ""},
		"cut":           {"a,b\nx," + long + "\n", Options{Invalid: input.Truncate}, "a:string b:string [x|" + long[:65535] + "]", ""},
		"cut, 4 bytes":  {"a,b\nx," + long[:65533] + "😀\n", Options{Invalid: input.Truncate}, "a:string b:string [x|" + long[:65533] + "]", ""},
		"long, skipped": {"a,b\nx," + long + "\ny,z\n", Options{Invalid: input.Skip}, "a:string b:string [y|z]", ""},
	} {
		for _, size := range []int{1, 9, 1 << 20} {
			var warnings []string
			opt := c.opt
			opt.text, opt.Warn = size, func(text string) { warnings = append(warnings, text) }
			got, err := readCSV(t, c.text, opt)
			if s := content(got); err != nil || s != c.want {
				t.Errorf("%s: %.200s, error %v, want %.200s", name, s, err, c.want)
			}
			if text := strings.Join(warnings, "|"); !strings.Contains(text, c.warning) || c.warning == "" && text != "" {
				t.Errorf("%s: warning %q, want %q", name, text, c.warning)
			}
		}
	}
}

// TestDialectErrors breaks each rule of dialects.
func TestDialectErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		opt  Options
		want []string
	}{
		"Go syntax":       {"a\n1\n1_5\n", Options{Types: types("a", column.Float)}, []string{"-:3", `"1_5" is not a number`}},
		"hexadecimal":     {"a\n0x1p4\n", Options{Types: types("a", column.Float32)}, []string{"-:2", `"0x1p4" is not a number`}},
		"a quote inside":  {"a,b\n1,5\"\n", Options{}, []string{"-:2", "--quote none"}},
		"short":           {"a,b\n1\n", Options{}, []string{"-:2", "1 field, the table has 2 columns", "--ragged pad"}},
		"long, padded":    {"a,b\n1,2,,3\n", Options{Ragged: Pad}, []string{"-:2", "4 fields"}},
		"groups of two":   {"a;b\n1.23;1\n", Options{Dialect: Dialect{Decimal: ','}, Types: types("a", column.Float)}, []string{"-:2", `"1.23" is not a number`}},
		"names and names": {"a,b\n1,2\n", Options{Header: WithHeader, Names: []string{"x"}}, []string{"-:2", "2 columns, but 1 name"}},
		"skipped lines":   {"x\n\ny\na,b\n1,2\nz,3\n", Options{Dialect: Dialect{SkipLines: 3}, Types: types("a", column.Int)}, []string{"-:6"}},
		"no character":    {"a\n\x80\x81\n", Options{Dialect: Dialect{Encoding: "windows-1252"}}, []string{"-:2", `column "a"`, "byte 3 of the value is 0x81"}},
		"a float in ints": {"a\n\"[1,2.5]\"\n", Options{Advice: true, Types: map[string]column.Declared{"a": {Type: column.Int, List: true}}}, []string{"-:2", `"2.5" is not an integer`, "--type a=float[] takes it"}},
		"a comment":       {"a,b\n#\n#\n1,2\nz,3\n", Options{Dialect: Dialect{Comment: '#'}, Types: types("a", column.Int)}, []string{"-:5"}},
		"Excel's line":    {"sep=;\na;b\n1;2\nz;3\n", Options{Types: types("a", column.Int)}, []string{"-:4"}},
		"Excel's quote":   {"sep=\"\na\n", Options{}, []string{"-:1", "a quote inside a field"}},
		"escaped ends":    {"a,b\nx\\\ny,1\nz,w\n", Options{Dialect: Dialect{Escape: '\\', NoQuote: true}, Types: types("b", column.Int)}, []string{"-:4"}},
		"a long record":   {"a\n1\n" + strings.Repeat("2", 2000), Options{text: 100, maxRecord: 1 << 10, sample: 1 << 10}, []string{"byte 4", "a record of more than 1024 bytes"}},
		"a header again":  {"a,b\n1,2\na,b\n" + strings.Repeat("3,4\n", 200) + "z,5\n", Options{text: 100, sample: 50, Types: types("a", column.Int)}, []string{"-:204"}},
	} {
		_, err := readCSV(t, c.text, c.opt)
		t.Run(name, func(t *testing.T) { readtest.WantError(t, err, c.want...) })
	}
	for want, d := range map[string]Dialect{
		"delimiter and comment character are both '#'": {Delimiter: '#', Comment: '#'},
		"quote and comment character are both '\"'":    {Comment: '"'},
		`delimiter '\n': a line end or not ASCII`:      {Delimiter: '\n'},
		"decimal sign 'x' is no point and no comma":    {Decimal: 'x'},
		"thousands sign '.': a sign, a digit":          {Thousands: '.'},
		"thousands sign '+': a sign, a digit":          {Thousands: '+'},
		"thousands sign '-': a sign, a digit":          {Thousands: '-'},
		"thousands sign '0': a sign, a digit":          {Thousands: '0'},
		"thousands sign '9': a sign, a digit":          {Thousands: '9'},
		"lines to skip: -1, must be 0 or more":         {SkipLines: -1},
	} {
		if err := d.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", d, err, want)
		}
	}
	if _, err := readCSV(t, "a\n", Options{Dialect: Dialect{Encoding: "ebcdic"}}); err == nil || !strings.Contains(err.Error(), `unknown encoding "ebcdic" (one of utf-8,`) {
		t.Error(err)
	}
}

// written writes fields as a dialect has them, and a line end behind each record.
func written(d Dialect, rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		for i, text := range row {
			if i > 0 {
				b.WriteByte(d.Delimiter)
			}
			special := string([]byte{d.Delimiter, '\r', '\n', d.Quote, d.Comment, d.Escape})
			switch {
			case d.NoQuote:
				for _, c := range []byte(text) {
					if c == d.Delimiter || c == '\n' || c == d.Escape {
						b.WriteByte(d.Escape)
					}
					b.WriteByte(c)
				}
				continue
			case text != "" && !strings.ContainsAny(text, special):
				b.WriteString(text)
				continue
			}
			b.WriteByte(d.Quote)
			for _, c := range []byte(text) {
				if d.Escape == 0 && c == d.Quote {
					b.WriteByte(d.Quote)
				} else if d.Escape != 0 && (c == d.Quote || c == d.Escape) {
					b.WriteByte(d.Escape)
				}
				b.WriteByte(c)
			}
			b.WriteByte(d.Quote)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestDialectProperties reads texts that a dialect has written, cut anywhere.
func TestDialectProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := Dialect{Delimiter: rapid.SampledFrom([]byte(",;\t|x")).Draw(r, "delimiter"), Encoding: "utf-8"}
		d.Quote = rapid.SampledFrom([]byte("\"'")).Draw(r, "quote")
		if rapid.Bool().Draw(r, "escaped") {
			d.Escape = '\\'
			d.NoQuote = rapid.Bool().Draw(r, "plain")
		}
		if rapid.Bool().Draw(r, "comments") {
			d.Comment = '#'
		}
		alphabet := "ab,;\t|x\"'\\#\n é"
		if d.NoQuote {
			d.Comment, alphabet = 0, strings.ReplaceAll(alphabet, "\n", "") // a line end without quotes cannot begin a record
		}
		columns := rapid.IntRange(1, 4).Draw(r, "columns")
		text := rapid.StringOfN(rapid.RuneFrom([]rune(alphabet)), 0, 8, -1)
		rows := rapid.SliceOfN(rapid.SliceOfN(text, columns, columns), 0, 20).Draw(r, "rows")
		opt := Options{Dialect: d, text: rapid.IntRange(1, 60).Draw(r, "size"), Types: map[string]column.Declared{}}
		for i := range columns {
			opt.Names = append(opt.Names, fmt.Sprint("c", i))
			opt.Types[opt.Names[i]] = column.Declared{Type: column.String}
		}
		got, err := readCSV(t, written(d, rows), opt)
		var want [][]string
		for _, row := range rows {
			w := append([]string(nil), row...)
			for i := range w {
				if d.NoQuote && w[i] == "" {
					w[i] = readtest.Missing
				}
			}
			want = append(want, w)
		}
		if err != nil || fmt.Sprintf("%q", got.Rows) != fmt.Sprintf("%q", want) {
			r.Fatalf("%+v: %q: %q, error %v, want %q", d, written(d, rows), got.Rows, err, want)
		}
	})
}

// FuzzDialects reads any text in any dialect: rows, or an error of the input. The size of the parts into which
// the text is cut changes nothing.
func FuzzDialects(f *testing.F) {
	f.Add("a;b\n1,5;\"x\n\"\n#c\n", byte(';'), byte('"'), byte(0), byte('#'), byte(3), byte(0))
	f.Add("a,b\n\\,x,'y\\'\n'\n", byte(0), byte('\''), byte('\\'), byte(0), byte(1), byte(5))
	f.Add("a\n\n\"\"\nb,c\n", byte(0), byte(0), byte(0), byte(0), byte(2), byte(2))
	f.Add("1,2,3\n4,5\n\n1,2,3\n", byte(0), byte('"'), byte(0), byte(0), byte(4), byte(1))
	f.Fuzz(func(t *testing.T, text string, delimiter, quote, escape, comment, size, more byte) {
		opt := Options{Dialect: Dialect{Delimiter: delimiter, Quote: quote, NoQuote: quote == 0, Escape: escape, Comment: comment, SkipLines: int(more >> 6)},
			Ragged: Ragged(more % 3), Header: Header(more / 3 % 3), Invalid: input.Skip, maxRecord: 1 << 20, sample: 1 << 12}
		if len(text) >= fuzzed || opt.Validate() != nil {
			return
		}
		var first string
		for i, size := range []int{1 + int(size), 1 << 20} {
			opt.text = size
			got, err := readCSV(t, text, opt)
			result := fmt.Sprintf("%q %v", content(got), err)
			if err != nil {
				result = "error" // rows before it depend on the parts
			}
			if i == 0 {
				first = result
			} else if result != first {
				t.Fatalf("%q in %+v: %s in parts of %d, %s as a whole", text, opt.Dialect, first, size, result)
			}
		}
	})
}
