package csv

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/table/column"
	"heddle/engine/table/read/readtest"
)

// TestPublicFiles reads public files of the checkout of duckdb/duckdb that HEDDLE_CSV_TESTING names, and compares them with
// DuckDB: rows, names, and of each column the number of values and a hash of them. testdata/README.txt says how
// testdata/duckdb.tsv was made.
func TestPublicFiles(t *testing.T) {
	dir := os.Getenv("HEDDLE_CSV_TESTING")
	if dir == "" {
		t.Skip("HEDDLE_CSV_TESTING names no checkout of duckdb/duckdb")
	}
	lines, err := os.ReadFile("testdata/duckdb.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		s, err := Open(t.Context(), []string{filepath.Join(dir, "data", "csv", filepath.FromSlash(f[0]))}, Options{})
		got, err := readtest.ReadAll(t, s, err)
		if len(f) == 2 { // the reason why heddle refuses the file, or reads something else
			reason, refused := strings.CutPrefix(f[1], "refused: ")
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: error %v, want: %s", f[0], err, f[1])
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", f[0], err)
			continue
		}
		if want := fmt.Sprintf("%d rows, names %s", len(got.Rows), hashNames(got)); want != fmt.Sprintf("%s rows, names %s", f[1], f[2]) {
			t.Errorf("%s: %s; DuckDB has %s rows, names %s", f[0], want, f[1], f[2])
			continue
		}
		for i, want := range strings.Fields(f[3]) {
			want, text, _ := strings.Cut(want, "/") // DuckDB takes texts for times that are none here
			if got := hashColumn(got, i); got != want && (text == "" || !strings.HasSuffix(got, ":"+text)) {
				t.Errorf("%s: column %d has values and hash %s; DuckDB has %s", f[0], i+1, got, want)
			}
		}
	}
}

func hashNames(x readtest.Table) string {
	var all strings.Builder
	for _, f := range x.Fields {
		all.WriteString(f.Name + "\n")
	}
	return hashOf(all.String())
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:3])
}

// hashColumn gives the number of values of a column and a hash of them, each with an LF behind it, a NUL for a missing one.
func hashColumn(x readtest.Table, i int) string {
	var all strings.Builder
	values := 0
	for _, row := range x.Rows {
		if row[i] == readtest.Missing {
			all.WriteByte(0)
			continue
		}
		values++
		all.WriteString(plainText(x.Fields[i].Type, row[i]) + "\n")
	}
	return fmt.Sprintf("%d:%s", values, hashOf(all.String()))
}

// plainText gives floats by their bits, and times as DuckDB writes them.
func plainText(t column.Type, text string) string {
	switch {
	case t == column.Float:
		var v float64
		if _, err := fmt.Sscan(text, &v); err != nil && err != io.EOF {
			return err.Error()
		}
		if math.IsNaN(v) {
			return "nan"
		}
		return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, math.Float64bits(v)))
	case t.IsTime():
		return strings.TrimSuffix(strings.Replace(strings.TrimSuffix(text, "Z"), "T", " ", 1), " 00:00:00")
	}
	return text
}
