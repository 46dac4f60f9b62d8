package read

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"heddle/engine/file/input"
)

// TestInvalidTexts reads texts that are not UTF-8 with each treatment.
func TestInvalidTexts(t *testing.T) {
	const text = "n,s,u\n1,caf\xe9,a\n2,\"x\ny\",\n3,ok,b\n4,\xff\xfe,\xe9\n"
	type row struct {
		N int64   `parquet:"n"`
		S string  `parquet:"s"`
		U *string `parquet:"u,optional"`
		B []byte  `parquet:"b"`
	}
	a, b, e := "a", "b", "\xe9"
	rows := []row{{1, "caf\xe9", &a, []byte{0xff}}, {2, "x\ny", nil, nil}, {3, "ok", &b, nil}, {4, "\xff\xfe", &e, nil}}
	lone := "\xff\xfe" + strings.NewReplacer("\x01", "\x00\xd8").Replace("s\x00\n\x00\x01\n\x00x\x00\n\x00")
	open := map[string]func(input.Invalid) (Source, error){
		"-:2": func(mode input.Invalid) (Source, error) {
			return OpenCSV(t.Context(), []string{"-"}, CSVOptions{Invalid: mode, Stdin: strings.NewReader(text)})
		},
		`x.parquet: column "s": row 0 (from 0)`: func(mode input.Invalid) (Source, error) {
			return OpenParquet(t.Context(), []string{parquetFile(t, "x.parquet", 10, rows)}, ParquetOptions{Invalid: mode, rows: 1, Columns: []string{"n", "s", "u"}})
		},
	}
	for place, open := range open {
		for mode, want := range map[input.Invalid][]string{
			input.Replace: {"1|caf\ufffd|a", "2|x\ny|" + missing, "3|ok|b", "4|\ufffd|\ufffd"},
			input.Skip:    {"2|x\ny|" + missing, "3|ok|b"},
			input.Fail:    nil,
			"":            nil,
		} {
			s, err := open(mode)
			got, err := readAll(t, s, err)
			if want == nil {
				var known *input.Error
				if !errors.As(err, &known) || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), `column "s"`) || !strings.Contains(err.Error(), "byte 3 of the value is 0xe9") {
					t.Errorf("%s, %q: error %v", place, mode, err)
				}
				continue
			}
			var lines []string
			for _, r := range got.rows {
				lines = append(lines, strings.Join(r, "|"))
			}
			if n := s.Invalid(); err != nil || !slices.Equal(lines, want) || n.Rows != 2 || !strings.Contains(n.First.Error(), place) {
				t.Errorf("%s, %s: %q, %+v, %v; want %q", place, mode, lines, n, err, want)
			}
		}
	}
	s, err := OpenCSV(t.Context(), []string{"-"}, CSVOptions{Stdin: strings.NewReader(lone)})
	if _, err = readAll(t, s, err); err == nil || !strings.Contains(err.Error(), "half of a surrogate pair, U+D800") {
		t.Errorf("half of a surrogate pair: %v", err)
	}
	s, err = OpenParquet(t.Context(), []string{parquetFile(t, "x.parquet", 10, rows)}, ParquetOptions{Columns: []string{"b"}})
	if got, err := readAll(t, s, err); err != nil || got.rows[0][0] != "\xff" || s.Invalid().Rows != 0 {
		t.Errorf("bytes without a logical type: %q, %v", got.rows, err)
	}
}

// TestInvalidTextsProperties compares the rows that stay, in batches of any size, with rows
// that are checked one by one.
func TestInvalidTextsProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		value := rapid.SampledFrom([]string{"", "a", "é", "\xe9", "é\xff", "\xc3", "\xa9", "漢字"})
		rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) [2]string { return [2]string{value.Draw(r, "a"), value.Draw(r, "b")} }), 0, 40).Draw(r, "rows")
		mode := rapid.SampledFrom([]input.Invalid{input.Replace, input.Skip}).Draw(r, "mode")
		var file strings.Builder
		var want []string
		invalid := uint64(0)
		for i, row := range rows {
			fmt.Fprintf(&file, "%d,\"%s\",\"%s\"\n", i, row[0], row[1])
			if valid := utf8.ValidString(row[0]) && utf8.ValidString(row[1]); !valid {
				invalid++
				if mode == input.Skip {
					continue
				}
			}
			want = append(want, fmt.Sprintf("%d|%s|%s", i, strings.ToValidUTF8(row[0], "\ufffd"), strings.ToValidUTF8(row[1], "\ufffd")))
		}
		s, err := OpenCSV(t.Context(), []string{"-"}, CSVOptions{Names: []string{"n", "a", "b"}, Invalid: mode, Stdin: strings.NewReader(file.String()), text: rapid.IntRange(1, 300).Draw(r, "size")})
		got, err := readAll(t, s, err)
		var lines []string
		for _, row := range got.rows {
			lines = append(lines, strings.Join(row, "|"))
		}
		if err != nil || !slices.Equal(lines, want) || s.Invalid().Rows != invalid {
			r.Fatalf("%q, %v, %v; want %q, %d invalid", lines, s.Invalid(), err, want, invalid)
		}
	})
}
