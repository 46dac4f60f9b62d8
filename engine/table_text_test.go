package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan/testneeds"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
	"heddle/engine/table/values"
)

// drawnRows is a source of drawn values.
type drawnRows struct {
	fields []read.Field
	batch  read.Batch
	given  bool
}

func (s *drawnRows) Fields() []read.Field             { return s.fields }
func (s *drawnRows) Progress() (done, total int64)    { return 0, 0 }
func (s *drawnRows) Invalid() (none read.InvalidRows) { return none }
func (s *drawnRows) Close() error                     { return nil }
func (s *drawnRows) Next(_ context.Context, b *read.Batch) error {
	if s.given || s.batch.Rows == 0 {
		return io.EOF
	}
	*b, s.given = s.batch, true
	return nil
}

// drawRows draws columns of all types with edge values, and few or no rows.
func drawRows(r *rapid.T) *drawnRows {
	s := &drawnRows{}
	names := []string{"a", "b c", "2001", "1.5", "true", "nan", `q"q`, "x;y", "count(*)", "\ufeffm", "a/b", "-7", "2001-02-03", "WARC/1", "ü", "x\ny"}
	texts := []string{"", "a", "007", "1_5", "true", "x;y", "x|y;z\t", "\"", "a\nb", "a\r\nb", "\rc", " blank ", ",", "NA", "nan", "\\N", "é", "a", "#", "2001-02-03"}
	for i, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID[string]).Draw(r, "names") {
		of := column.Type(rapid.IntRange(int(column.Int), int(column.TimestampNS)).Draw(r, fmt.Sprint("type ", i)))
		f := read.Field{Name: name, Type: of}
		if of.IsDecimal() {
			f.Scale = 3
		}
		s.fields = append(s.fields, f)
	}
	s.batch.Rows = rapid.IntRange(0, 12).Draw(r, "rows")
	s.batch.Reset(len(s.fields))
	for i, f := range s.fields {
		v := &s.batch.Columns[i]
		for range s.batch.Rows {
			n := rapid.OneOf(rapid.Int64Range(-9, 9), rapid.Int64Range(-999_999_999_999_999, 999_999_999_999_999)).Draw(r, "value")
			switch {
			case rapid.IntRange(0, 3).Draw(r, "missing") == 0:
				v.AppendMissing(f.Type)
			case f.Type == column.String:
				v.AppendText([]byte(rapid.SampledFrom(texts).Draw(r, "text")))
			case f.Type == column.Decimal128:
				key, err := column.WideKey(new(big.Int).Mul(big.NewInt(n), big.NewInt(1e9)))
				if err != nil {
					r.Fatal(err)
				}
				v.AppendText(key[:])
			case f.Type == column.Float:
				v.AppendKey(column.FloatKey(rapid.Float64().Draw(r, "float")))
			case f.Type == column.Float32:
				v.AppendKey(column.Float32Key(rapid.Float32().Draw(r, "float")))
			case f.Type == column.Bool:
				v.AppendKey(uint64(n & 1))
			case f.Type == column.Uint:
				v.AppendKey(uint64(n))
			default:
				v.AppendKey(column.IntKey(n))
			}
		}
	}
	return s
}

// declared are the types of fields for a reader of CSV.
func declared(fields []read.Field) map[string]column.Declared {
	types := map[string]column.Declared{}
	for _, f := range fields {
		types[f.Name] = column.Declared{Type: f.Type, Scale: f.Scale}
	}
	return types
}

// TestTextRoundTrip: the answer of all columns as CSV builds to an equal file, with the types declared.
func TestTextRoundTrip(t *testing.T) {
	if !onHost() {
		t.Skip("the text of an answer does not depend on the backend")
	}
	testneeds.Sequential(t)
	e := tableEngine(t, backendOptions(t))
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.hdb"), filepath.Join(dir, "second.hdb")
	rapid.Check(t, func(r *rapid.T) {
		rows := drawRows(r)
		build := func(src read.Source, path string) []byte {
			if _, err := tablebuild.Build(t.Context(), src, path, tablebuild.Options{}); err != nil {
				r.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				r.Fatal(err)
			}
			return data
		}
		want := build(rows, first)
		x, err := e.OpenTable(t.Context(), first, TableOptions{})
		if err != nil {
			r.Fatal(err)
		}
		var text bytes.Buffer
		w := values.NewCSV(&text)
		err = x.Aggregate(t.Context(), Aggregation{Select: "*"}, w.Write)
		if err == nil {
			err = w.Close()
		}
		x.Close()
		if err != nil {
			r.Fatal(err)
		}
		written := text.String()
		src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: &text, Types: declared(rows.fields)})
		if err != nil {
			r.Fatalf("%q: %v", written, err)
		}
		defer src.Close()
		if got := build(src, second); !bytes.Equal(got, want) {
			r.Fatalf("%q builds to another table", written)
		}
	})
}
