package read

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
)

// write makes a file, gzipped if its name ends in .gz.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	data := []byte(content)
	if strings.HasSuffix(name, ".gz") {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		z.Write(data)
		z.Close()
		data = []byte(b.String())
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// cell is a value as text; missing is the text of a missing value.
const missing = "\x00missing"

// table is the content of a source: the rows of its columns as texts.
type table struct {
	fields []Field
	rows   [][]string
}

// readAll reads a source to its end and closes it.
func readAll(t testing.TB, s Source, err error) (table, error) {
	t.Helper()
	if err != nil {
		return table{}, err
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		var b Batch
		if err := s.Next(t.Context(), &b); err == nil {
			t.Error("a closed source gives a batch")
		}
	}()
	got := table{fields: s.Fields()}
	var b Batch
	for {
		if err := s.Next(context.Background(), &b); err == io.EOF {
			return got, nil
		} else if err != nil {
			return got, err
		}
		got.add(t, &b)
	}
}

func (x *table) add(t testing.TB, b *Batch) {
	if b.Rows == 0 || len(b.Columns) != len(x.fields) {
		t.Fatalf("a batch of %d rows, %d columns; want %d", b.Rows, len(b.Columns), len(x.fields))
	}
	from := len(x.rows)
	for range b.Rows {
		x.rows = append(x.rows, make([]string, len(x.fields)))
	}
	for c, f := range x.fields {
		v := &b.Columns[c]
		if n := len(v.Keys) + len(v.Ends); n != b.Rows || len(v.Missing) != 0 && len(v.Missing) != b.Rows {
			t.Fatalf("column %q: %d values, %d flags in %d rows", f.Name, n, len(v.Missing), b.Rows)
		}
		if f.Type.HasDictionary() {
			v.Each(func(row int, value []byte, ok bool) {
				entry := column.Column{Type: f.Type, Scale: f.Scale, Dictionary: []string{string(value)}}
				if x.rows[from+row][c] = missing; ok {
					x.rows[from+row][c] = entry.Format(0)
				}
			})
			continue
		}
		for i, k := range v.Keys {
			x.rows[from+i][c] = (&column.Column{Type: f.Type, Scale: f.Scale}).Format(k)
			if len(v.Missing) > 0 && v.Missing[i] {
				x.rows[from+i][c] = missing
			}
		}
	}
}

// valueOf writes the value of a key.
func valueOf(t column.Type, key uint64) string {
	c := column.Column{Type: t}
	return c.Format(key)
}

// wantError checks that err is an input error and contains all parts.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if !errors.Is(err, input.ErrCorrupt) {
		t.Fatalf("error %v, want one about an input", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Fatalf("error %q does not say %q", err, p)
		}
	}
}

// flights is a CSV text of about so many bytes: delay, distance, minutes.
func flights(size int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	b := []byte("delay,distance,minutes\n")
	for minute := int64(0); len(b) < size; minute += rng.Int64N(2) {
		b = strconv.AppendInt(b, int64(rng.ExpFloat64()*30)-20, 10)
		b = strconv.AppendInt(append(b, ','), rng.Int64N(2500), 10)
		b = append(strconv.AppendInt(append(b, ','), minute, 10), '\n')
	}
	return string(b)
}
