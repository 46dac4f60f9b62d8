package parquet_test

import (
	"context"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/table/column"
	read "heddle/engine/table/read/parquet"
	"heddle/engine/table/values"
	"heddle/engine/table/values/parquet"
	"heddle/engine/table/values/valuestest"
)

// write writes batches to a file.
func write(t *testing.T, batches ...values.Batch) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.New(f)
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWrite reads the values of all types with package read: names and types in their order.
func TestWrite(t *testing.T) {
	b := valuestest.Batch()
	path := write(t, b.Cut(0, 1), b.Cut(1, 3))
	src, err := read.Open(context.Background(), []string{path}, read.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for k, f := range src.Fields() {
		want := b[k].Type
		if want == column.Decimal {
			want = column.Decimal128
		}
		if f.Name != b[k].Name || f.Type != want || f.Scale != b[k].Scale {
			t.Errorf("column %d: %+v, want %s of type %v", k, f, b[k].Name, want)
		}
	}
}

// TestStatistics: a file has no statistics of decimals, since a reader would skip values by wrong ones:
// package read takes a column whose extremes are -1 and 0 for one of 64 bits.
func TestStatistics(t *testing.T) {
	d := values.Batch{{Column: column.Column{Name: "d", Type: column.Decimal128}}}
	for i, text := range []string{"12345678901234567890123456789012345678", "-1", "0"} {
		v, _ := new(big.Int).SetString(text, 10)
		key, err := column.WideKey(v)
		if err != nil {
			t.Fatal(err)
		}
		d[0].Dictionary, d[0].Codes = append(d[0].Dictionary, string(key[:])), append(d[0].Codes, uint64(i))
	}
	src, err := read.Open(t.Context(), []string{write(t, d)}, read.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if f := src.Fields()[0]; f.Type != column.Decimal128 {
		t.Errorf("%+v: the statistics are wrong", f)
	}
}

// TestFull writes to a writer that fails.
func TestFull(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	w := parquet.New(f)
	if err := errors.Join(w.Write(valuestest.Batch()), w.Close()); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v", err)
	}
	if err := parquet.New(f).Close(); err != nil {
		t.Errorf("nothing to write: %v", err)
	}
}
