package parquet

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/table/column"
	"heddle/engine/table/read"
	"heddle/engine/table/read/readtest"
)

// TestPublicFiles reads public files of the checkouts that HEDDLE_PARQUET_TESTING names, a list of folders, and compares each
// column with DuckDB: rows, values, and a hash of all values. testdata/README.txt says how testdata/duckdb.tsv was made.
func TestPublicFiles(t *testing.T) {
	dirs := filepath.SplitList(os.Getenv("HEDDLE_PARQUET_TESTING"))
	if len(dirs) == 0 {
		t.Skip("HEDDLE_PARQUET_TESTING names no checkouts of apache/parquet-testing, apache/arrow-testing and duckdb/duckdb")
	}
	lines, err := os.ReadFile("testdata/duckdb.tsv")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(lines)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for _, dir := range dirs {
			path := filepath.Join(dir, filepath.FromSlash(f[0]))
			if _, err := os.Stat(path); err != nil {
				continue
			}
			found[dir] = true
			if got, err := columnHash(t, path, f[1]); err != nil || !slices.Equal(got, f[2:]) {
				t.Errorf("%s: column %s has rows, values and hash %s, error %v; DuckDB has %s", f[0], f[1], got, err, f[2:])
			}
		}
	}
	for _, dir := range dirs {
		if !found[dir] {
			t.Errorf("%s has none of the files", dir)
		}
	}
}

// columnHash gives the numbers of rows and values of a column, and a hash of its values.
func columnHash(t *testing.T, path, name string) ([]string, error) {
	s, err := Open(t.Context(), []string{path}, Options{Columns: []string{name}})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	of := s.Fields()[0]
	h, rows, values := sha256.New(), 0, 0
	var b read.Batch
	for err = s.Next(t.Context(), &b); err == nil; err = s.Next(t.Context(), &b) {
		rows += b.Rows
		values += addValues(h, of, &b.Columns[0])
	}
	if err != io.EOF {
		return nil, err
	}
	return []string{fmt.Sprint(rows), fmt.Sprint(values), hex.EncodeToString(h.Sum(nil))[:12]}, nil
}

// addValues hashes the values of a column: each with an LF behind it, a NUL for a missing one, [N] before the N values of a list.
func addValues(h hash.Hash, of read.Field, v *read.Values) (values int) {
	if of.List {
		at := 0
		all := texts(of.Element(), v.Elements)
		for _, n := range v.Counts {
			fmt.Fprintf(h, "[%d]", n)
			for _, text := range all[at : at+int(n)] {
				io.WriteString(h, text+"\n")
			}
			at += int(n)
		}
		return at
	}
	for _, text := range texts(of, v) {
		if text == readtest.Missing {
			h.Write([]byte{0})
			continue
		}
		io.WriteString(h, text+"\n")
		values++
	}
	return values
}

// texts gives the values of a column: floats by the bits of 64, times as DuckDB writes them.
func texts(of read.Field, v *read.Values) (all []string) {
	c := column.Column{Type: of.Type, Scale: of.Scale}
	add := func(row int, text string) {
		switch {
		case len(v.Missing) > 0 && v.Missing[row]:
			text = readtest.Missing
		case of.Type.IsTime():
			text = strings.TrimSuffix(strings.Replace(strings.TrimSuffix(text, "Z"), "T", " ", 1), " 00:00:00")
		}
		all = append(all, text)
	}
	if of.Type.HasDictionary() {
		v.Each(func(row int, value []byte, ok bool) {
			c.Dictionary = []string{string(value)}
			add(row, c.Format(0))
		})
		return all
	}
	for row, k := range v.Keys {
		switch of.Type {
		case column.Float:
			add(row, floatBits(column.KeyFloat(k)))
		case column.Float32:
			add(row, floatBits(float64(column.KeyFloat32(k))))
		default:
			add(row, c.Format(k))
		}
	}
	return all
}

func floatBits(f float64) string {
	if math.IsNaN(f) {
		return "nan"
	}
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, math.Float64bits(f)))
}
