package read_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"heddle/engine/file/input"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
	"heddle/engine/table/read/parquet"
	"heddle/engine/table/read/readtest"
)

// parquetFile writes rows to a file.
func parquetFile[T any](t *testing.T, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := pq.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

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
	open := map[string]func(input.Invalid) (read.Source, error){
		"-:2": func(mode input.Invalid) (read.Source, error) {
			return csv.Open(t.Context(), []string{"-"}, csv.Options{Invalid: mode, Stdin: strings.NewReader(text)})
		},
		`x.parquet: column "s": row 0 (from 0)`: func(mode input.Invalid) (read.Source, error) {
			return parquet.Open(t.Context(), []string{parquetFile(t, rows)}, parquet.Options{Invalid: mode, Columns: []string{"n", "s", "u"}})
		},
	}
	for place, open := range open {
		for mode, want := range map[input.Invalid][]string{
			input.Replace: {"1|caf\ufffd|a", "2|x\ny|" + readtest.Missing, "3|ok|b", "4|\ufffd|\ufffd"},
			input.Skip:    {"2|x\ny|" + readtest.Missing, "3|ok|b"},
			input.Fail:    nil,
			"":            nil,
		} {
			s, err := open(mode)
			got, err := readtest.ReadAll(t, s, err)
			if want == nil {
				var known *input.Error
				if !errors.As(err, &known) || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), `column "s"`) || !strings.Contains(err.Error(), "byte 3 of the value is 0xe9") {
					t.Errorf("%s, %q: error %v", place, mode, err)
				}
				continue
			}
			var lines []string
			for _, r := range got.Rows {
				lines = append(lines, strings.Join(r, "|"))
			}
			if n := s.Invalid(); err != nil || !slices.Equal(lines, want) || n.Rows != 2 || !strings.Contains(n.First.Error(), place) {
				t.Errorf("%s, %s: %q, %+v, %v; want %q", place, mode, lines, n, err, want)
			}
		}
	}
	s, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(lone)})
	if _, err = readtest.ReadAll(t, s, err); err == nil || !strings.Contains(err.Error(), "half of a surrogate pair, U+D800") {
		t.Errorf("half of a surrogate pair: %v", err)
	}
	s, err = parquet.Open(t.Context(), []string{parquetFile(t, rows)}, parquet.Options{Columns: []string{"b"}})
	if got, err := readtest.ReadAll(t, s, err); err != nil || got.Rows[0][0] != "\xff" || s.Invalid().Rows != 0 {
		t.Errorf("bytes without a logical type: %q, %v", got.Rows, err)
	}
}
