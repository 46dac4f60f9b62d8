package hdb

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/file/container/containertest"
	"heddle/engine/table/column"
)

// good is a column for three rows: codes 0, 5 and one missing.
func good() column.Column {
	return column.Column{Name: "good", Type: column.Int, Binning: column.Distinct, Missing: 1,
		Bins: []column.Bin{{Lo: 0, Hi: 0, Rows: 1}, {Lo: 5, Hi: 5, Rows: 1}}}
}

// fill gives good its codes and vectors.
func fill(c *ColumnWriter) error {
	return errors.Join(c.Codes([]uint64{0, 5, 0}, []bool{false, false, true}), c.Vector32([]uint32{1}), c.Vector32([]uint32{2}), c.Vector32([]uint32{4}))
}

// TestWriterInput breaks each rule once, behind a good column.
func TestWriterInput(t *testing.T) {
	col := func(change func(c *column.Column)) func(*Writer) error {
		return func(w *Writer) error {
			c := good()
			c.Name = "next"
			change(&c)
			_, err := w.Column(c)
			return err
		}
	}
	in := func(do func(c *ColumnWriter) error) func(*Writer) error {
		return func(w *Writer) error {
			c := good()
			c.Name = "next"
			cw, err := w.Column(c)
			if err != nil {
				return fmt.Errorf("too early: %v", err)
			}
			return do(cw)
		}
	}
	vector := func(words ...uint32) func(*Writer) error {
		return in(func(c *ColumnWriter) error { return c.Vector32(words) })
	}
	for name, c := range map[string]struct {
		do   func(*Writer) error
		want string
	}{
		"no name":              {col(func(c *column.Column) { c.Name = "" }), `column 1 (""): it has no name`},
		"name twice":           {col(func(c *column.Column) { c.Name = "good" }), `column 1 ("good"): the name comes twice`},
		"name not UTF-8":       {col(func(c *column.Column) { c.Name = "a\xff" }), "not UTF-8"},
		"unknown type":         {col(func(c *column.Column) { c.Type = 99 }), "unknown type 99"},
		"unknown encoding":     {col(func(c *column.Column) { c.Encoding = 99 }), "unknown encoding 99"},
		"unknown binning":      {col(func(c *column.Column) { c.Binning = 99 }), "binning 99"},
		"binning auto":         {col(func(c *column.Column) { c.Binning = column.Auto }), "binning 0"},
		"dictionary of ints":   {col(func(c *column.Column) { c.Dictionary = []string{"a"} }), "a dictionary for values of type int"},
		"no dictionary":        {col(func(c *column.Column) { c.Type = column.String }), "key 5, the dictionary has 0 entries"},
		"scale of ints":        {col(func(c *column.Column) { c.Scale = 1 }), "1 digits behind the point in type int"},
		"great scale":          {col(func(c *column.Column) { c.Type, c.Scale = column.Decimal, 39 }), "39 digits behind the point in type decimal"},
		"great float32":        {col(func(c *column.Column) { c.Type, c.Base = column.Float32, math.MaxUint32-4 }), "key 4294967296 of a float32"},
		"great scale of float": {col(func(c *column.Column) { c.Type, c.Scale = column.Float, 16 }), "16 digits behind the point in type float"},
		"great scaled float":   {col(func(c *column.Column) { c.Type, c.Scale, c.Base = column.Float, 2, column.IntKey(1e15-4) }), "of a float with 2 digits behind the point"},
		"short decimal128":     {col(func(c *column.Column) { dictionary("a", "b", "c", "d", "e", "f")(c); c.Type = column.Decimal128 }), "entry 0 of its dictionary: 1 bytes; a decimal128 has 16"},
		"no decimal128":        {col(func(c *column.Column) { c.Type = column.Decimal128 }), "key 5, the dictionary has 0 entries"},
		"boolean":              {col(func(c *column.Column) { c.Type = column.Bool }), "key 5 of a boolean"},
		"base and no bins":     {col(func(c *column.Column) { c.Base, c.Bins, c.Missing = 1, nil, 3 }), "base 1 where no row has a value"},
		"keys wrap":            {col(func(c *column.Column) { c.Base = math.MaxUint64 - 4 }), "with codes up to 5 above it"},
		"bin upside down":      {col(func(c *column.Column) { c.Bins[1].Lo = 6 }), "bin 1 has codes 6 to 5"},
		"bins overlap":         {col(func(c *column.Column) { c.Bins[0].Hi = 5 }), "bin 1 starts at code 5, the one before ends at 5"},
		"bins descend":         {col(func(c *column.Column) { c.Bins[0].Lo, c.Bins[0].Hi = 7, 8 }), "bin 1 starts at code 5, the one before ends at 8"},
		"bin without rows":     {col(func(c *column.Column) { c.Bins[0].Rows, c.Missing = 0, 2 }), "bin 0 has no rows"},
		"too many rows":        {col(func(c *column.Column) { c.Missing = 2 }), "the bins have 2 rows, 2 are without a value, the table has 3"},
		"too few rows":         {col(func(c *column.Column) { c.Missing = 0 }), "the bins have 2 rows, 0 are without a value, the table has 3"},
		"rows at the limit":    {col(func(c *column.Column) { c.Bins[0].Rows, c.Bins[1].Rows = math.MaxUint32, 3 }), "the bins have 4294967298 rows"},
		"dictionary descends":  {col(dictionary("b", "a", "c", "d", "e", "f")), `entry 1 of its dictionary: "a" does not come behind "b"`},
		"entry twice":          {col(dictionary("a", "a", "c", "d", "e", "f")), `entry 1 of its dictionary: "a" does not come behind "a"`},
		"entry too long":       {col(dictionary("a", "b", "c", "d", "e", strings.Repeat("f", MaxStringLen+1))), "entry 5 of its dictionary: 65537 bytes; at most 65536"},

		"code beyond the bins": {in(func(c *ColumnWriter) error { return c.Codes([]uint64{0, 6}, nil) }), `column "next": row 1 has code 6, the bins end at 5`},
		"too many codes": {in(func(c *ColumnWriter) error {
			return errors.Join(c.Codes([]uint64{0, 5}, nil), c.Codes([]uint64{0, 0}, nil))
		}), "4 codes for 3 rows"},
		"codes missing": {in(func(c *ColumnWriter) error { return errors.Join(c.Codes([]uint64{0, 5}, nil), c.w.Commit()) }), "1 of 3 codes are missing"},
		"vectors missing": {in(func(c *ColumnWriter) error {
			return errors.Join(c.Codes([]uint64{0, 5, 9}, []bool{false, false, true}), c.w.Commit())
		}), "3 of 3 vectors are missing"},
		"a value too many": {in(func(c *ColumnWriter) error { return errors.Join(c.Codes([]uint64{0, 5, 0}, nil), c.w.Commit()) }), "0 rows without a value instead of 1"},
		"marks missing":    {in(func(c *ColumnWriter) error { return c.Codes([]uint64{0, 5}, []bool{true}) }), "2 codes, 1 marks of missing values"},
		"too many vectors": {in(func(c *ColumnWriter) error { return errors.Join(fill(c), c.Vector32([]uint32{1})) }), "more than its 3 vectors"},
		"next column too early": {in(func(c *ColumnWriter) error {
			_, err := c.w.Column(good())
			return err
		}), "3 of 3 codes are missing"},
		"vectors at the limit": {func(w *Writer) error {
			w.header.vectors = math.MaxUint32 - 2
			return col(func(*column.Column) {})(w)
		}, "more than 2^32-1 columns or vectors"},
		"columns at the limit": {func(w *Writer) error {
			w.header.columns = math.MaxUint32
			return col(func(*column.Column) {})(w)
		}, "more than 2^32-1 columns or vectors"},
		"column ended": {func(w *Writer) error {
			before := w.open
			c := good()
			c.Name = "next"
			if _, err := w.Column(c); err != nil {
				return fmt.Errorf("too early: %v", err)
			}
			return before.Codes(nil, nil)
		}, `column "good": it was ended`},
		"words of 64 bits":   {in(func(c *ColumnWriter) error { return c.Vector64([]uint64{1}) }), "a vector of 64-bit words in a table of 32-bit words"},
		"ones":               {vector(3), "vector 0: 2 ones, its bins have 1 rows"},
		"no words":           {vector(), "vector 0: wah32: word 0: ends after 0 of 1 groups"},
		"too many words":     {vector(1, 1), "vector 0: wah32: word 1"},
		"bits behind":        {vector(8), "vector 0: wah32: word 0"},
		"fill of no groups":  {vector(1<<31, 1), "vector 0: wah32: word 0"},
		"literal of zeros":   {vector(0), "vector 0: wah32: word 0"},
		"fill of all groups": {vector(1<<31 | 1<<30 | 1), "vector 0: wah32: word 0"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.hdb")
			w, err := Create(path, 3, 32, Meta{})
			if err != nil {
				t.Fatal(err)
			}
			cw, err := w.Column(good())
			if err := errors.Join(err, fill(cw)); err != nil {
				t.Fatal(err)
			}
			err = c.do(w)
			if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			// The error stays, whichever call follows.
			_, again := w.Column(good())
			for _, again := range []error{again, cw.Codes(nil, nil), cw.Vector32(nil), w.Commit()} {
				if again == nil || !strings.Contains(again.Error(), c.want) {
					t.Errorf("then %v, want %q", again, c.want)
				}
			}
			containertest.WantFolder(t, filepath.Dir(path))
		})
	}
}

func dictionary(entries ...string) func(c *column.Column) {
	return func(c *column.Column) { c.Type, c.Dictionary = column.String, entries }
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.hdb")
	for _, word := range []int{0, 16, 33, -64} {
		if _, err := Create(path, 1, word, Meta{}); !errors.Is(err, ErrInput) {
			t.Errorf("words of %d bits: %v", word, err)
		}
	}
	for _, m := range []Meta{{Creator: "\xff"}, {Source: "x\xfe"}} {
		if _, err := Create(path, 1, 32, m); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "not UTF-8") {
			t.Errorf("%+v: %v", m, err)
		}
	}
	containertest.WantFolder(t, dir)
	if _, err := Create(filepath.Join(dir, "none", "x.hdb"), 1, 32, Meta{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestAbort(t *testing.T) {
	path := tiny().build(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Create(path, 3, 32, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Column(good())
	if err := errors.Join(err, fill(c), w.Abort(), w.Abort()); err != nil {
		t.Fatal(err)
	}
	_, next := w.Column(good())
	for _, err := range []error{next, c.Codes(nil, nil), c.Vector32(nil), c.Vector64(nil), w.Commit()} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Abort: %v", err)
		}
	}
	containertest.WantFolder(t, filepath.Dir(path), "x.hdb")
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("Abort touched the file that was there (%v)", err)
	}
}

// TestReplace commits over a table that is open: the reader keeps the old one.
func TestReplace(t *testing.T) {
	path := tiny().build(t)
	f := mustOpen(t, path)
	s := second()
	w, err := Create(path, s.rows, s.word, s.meta)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.write(w), w.Abort()); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second Commit: %v", err)
	}
	tiny().check(t, f)
	s.check(t, mustOpen(t, path))
	containertest.WantFolder(t, filepath.Dir(path), "x.hdb")
}
