// Package readtest reads sources of rows as texts, for tests.
package readtest

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
	"heddle/engine/table/read"
)

// Write makes a file, gzipped if its name ends in .gz.
func Write(t testing.TB, name, content string) string {
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

// Missing is the text of a missing value.
const Missing = "\x00missing"

// Table is the content of a source: the rows of its columns as texts.
type Table struct {
	Fields []read.Field
	Rows   [][]string
}

// ReadAll reads a source to its end and closes it.
func ReadAll(t testing.TB, s read.Source, err error) (Table, error) {
	t.Helper()
	if err != nil {
		return Table{}, err
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		var b read.Batch
		if err := s.Next(t.Context(), &b); err == nil {
			t.Error("a closed source gives a batch")
		}
	}()
	got := Table{Fields: s.Fields()}
	var b read.Batch
	for {
		if err := s.Next(context.Background(), &b); err == io.EOF {
			return got, nil
		} else if err != nil {
			return got, err
		}
		got.add(t, &b)
	}
}

func (x *Table) add(t testing.TB, b *read.Batch) {
	if b.Rows == 0 || len(b.Columns) != len(x.Fields) {
		t.Fatalf("a batch of %d rows, %d columns; want %d", b.Rows, len(b.Columns), len(x.Fields))
	}
	from := len(x.Rows)
	for range b.Rows {
		x.Rows = append(x.Rows, make([]string, len(x.Fields)))
	}
	for c, f := range x.Fields {
		v := &b.Columns[c]
		if n := len(v.Keys) + len(v.Ends); n != b.Rows || len(v.Missing) != 0 && len(v.Missing) != b.Rows {
			t.Fatalf("column %q: %d values, %d flags in %d rows", f.Name, n, len(v.Missing), b.Rows)
		}
		if f.Type.HasDictionary() {
			v.Each(func(row int, value []byte, ok bool) {
				entry := column.Column{Type: f.Type, Scale: f.Scale, Dictionary: []string{string(value)}}
				if x.Rows[from+row][c] = Missing; ok {
					x.Rows[from+row][c] = entry.Format(0)
				}
			})
			continue
		}
		for i, k := range v.Keys {
			x.Rows[from+i][c] = (&column.Column{Type: f.Type, Scale: f.Scale}).Format(k)
			if len(v.Missing) > 0 && v.Missing[i] {
				x.Rows[from+i][c] = Missing
			}
		}
	}
}

// ValueOf writes the value of a key.
func ValueOf(t column.Type, key uint64) string {
	c := column.Column{Type: t}
	return c.Format(key)
}

// WantError checks that err is an input error and contains all parts.
func WantError(t testing.TB, err error, parts ...string) {
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

// Flights is a CSV text of about the given number of bytes: delay, distance, minutes.
func Flights(size int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	b := []byte("delay,distance,minutes\n")
	for minute := int64(0); len(b) < size; minute += rng.Int64N(2) {
		b = strconv.AppendInt(b, int64(rng.ExpFloat64()*30)-20, 10)
		b = strconv.AppendInt(append(b, ','), rng.Int64N(2500), 10)
		b = append(strconv.AppendInt(append(b, ','), minute, 10), '\n')
	}
	return string(b)
}
