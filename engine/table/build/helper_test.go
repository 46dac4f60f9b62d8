package build

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
	"heddle/hostfallback"
)

// data is a column in memory: a key or a text a row.
type data struct {
	read.Field
	keys    []uint64
	texts   []string
	missing []bool // by row: it has no value
}

// table is a source in memory, in batches of random sizes.
type table struct {
	columns []data
	rows    int
	at      int
	most    int // rows of a batch
	rng     *rand.Rand
	next    func() error // called before every batch
	closed  bool
}

func newTable(columns ...data) *table {
	t := &table{columns: columns, most: 5000, rng: rand.New(rand.NewPCG(3, 4)), next: func() error { return nil }}
	if len(columns) > 0 {
		t.rows = len(columns[0].missing)
	}
	return t
}

func (t *table) Fields() (fields []read.Field) {
	for _, c := range t.columns {
		fields = append(fields, c.Field)
	}
	return fields
}

func (t *table) Next(ctx context.Context, b *read.Batch) error {
	if err := t.next(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.at == t.rows {
		return io.EOF
	}
	n := 1 + t.rng.IntN(min(t.most, t.rows-t.at))
	*b = read.Batch{Rows: n, Columns: make([]read.Values, len(t.columns))}
	for i, c := range t.columns {
		v := &b.Columns[i]
		some := slices.Contains(c.missing[t.at:t.at+n], true)
		for row := t.at; row < t.at+n; row++ {
			if c.Type == column.String {
				v.Text = append(v.Text, c.texts[row]...)
				v.Ends = append(v.Ends, uint32(len(v.Text)))
			} else {
				v.Keys = append(v.Keys, c.keys[row])
			}
			if some {
				v.Missing = append(v.Missing, c.missing[row])
			}
		}
	}
	t.at += n
	return nil
}

func (t *table) Progress() (done, total int64) { return int64(t.at), int64(t.rows) }
func (t *table) Invalid() read.InvalidRows     { return read.InvalidRows{} }
func (t *table) Close() error                  { t.closed = true; return nil }

// make1 makes a column of a type, with values drawn from about so many different ones
// and a share of missing ones.
func make1(name string, typ column.Type, rows, distinct int, missing float64, seed uint64) data {
	rng := rand.New(rand.NewPCG(seed, 9))
	d := data{Field: read.Field{Name: name, Type: typ}}
	value := 0
	for range rows {
		if rng.IntN(3) > 0 { // runs of a value
			value = min(int(rng.ExpFloat64()*float64(distinct)/6), distinct-1)
		}
		key, text := uint64(0), ""
		switch typ {
		case column.Int:
			key = column.IntKey(int64(value)*7 - 300)
		case column.Float:
			key = column.FloatKey(float64(value)/3 - 20)
		case column.Timestamp, column.TimestampNS:
			key = column.IntKey(int64(value)*3600e6*1e3 + 1e15)
		case column.Bool:
			key = uint64(value) & 1
		case column.String:
			text = fmt.Sprintf("%c%x", 'a'+value%26, value*31)
		}
		gone := rng.Float64() < missing
		if gone {
			key, text = rng.Uint64(), "" // arbitrary: the key of a missing value is never read
		}
		d.keys, d.texts, d.missing = append(d.keys, key), append(d.texts, text), append(d.missing, gone)
	}
	return d
}

// build builds a table in a folder of its own, which has nothing else behind.
func build(t testing.TB, src *table, opt Options) (path string, r Report) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "x.hdb")
	src.at, src.rng = 0, rand.New(rand.NewPCG(3, 4))
	r, err := Build(t.Context(), src, path, opt)
	if err != nil {
		t.Fatal(err)
	}
	wantFolder(t, dir, "x.hdb")
	return path, r
}

// wantFolder checks that dir holds just these names.
func wantFolder(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the folder holds %q, want %q", got, want)
	}
}

// check opens a table and compares it with its source.
func check(t testing.TB, path string, src *table) {
	t.Helper()
	f, err := hdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	if int(f.Rows()) != src.rows || len(f.Columns()) != len(src.columns) {
		t.Fatalf("%d rows, %d columns; want %d, %d", f.Rows(), len(f.Columns()), src.rows, len(src.columns))
	}
	backend := hostfallback.New(hostfallback.Options{})
	defer backend.Close()
	store, err := backend.LoadTable(t.Context(), f.Table())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for i, c := range f.Columns() {
		d := &src.columns[i]
		if c.Name != d.Name || c.Type != d.Type {
			t.Fatalf("column %d is %q, %v; want %q, %v", i, c.Name, c.Type, d.Name, d.Type)
		}
		codes := d.codes(t, &c)
		checkCodes(t, f.Table(), uint32(i), codes, d.missing)
		checkAnswers(t, store, &c, uint32(i), codes, d.missing)
	}
}

// codes are the expected codes of the rows of a column, 0 for missing values.
func (d *data) codes(t testing.TB, c *column.Column) []uint64 {
	t.Helper()
	var texts []string
	keys := slices.Clone(d.keys)
	least, gone := uint64(math.MaxUint64), 0
	for row, m := range d.missing {
		if c.Type == column.Float && c.Scale > 0 && !m {
			key, ok := column.ScaledKey(column.KeyFloat(keys[row]), c.Scale)
			if keys[row] = key; !ok {
				t.Fatalf("column %q: %v with scale %d", c.Name, column.KeyFloat(d.keys[row]), c.Scale)
			}
		}
		switch {
		case m:
			gone++
		case d.Type == column.String:
			texts = append(texts, d.texts[row])
		default:
			least = min(least, keys[row])
		}
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if gone == len(d.missing) || d.Type == column.String {
		least = 0
	}
	if c.Key(0) != least || int(c.Missing) != gone || !slices.Equal(c.Dictionary, texts) {
		t.Fatalf("column %q: least key %d, %d missing, dictionary %.9q; want %d, %d, %.9q", c.Name, c.Key(0), c.Missing, c.Dictionary, least, gone, texts)
	}
	for row, m := range d.missing {
		switch {
		case m:
			keys[row] = 0
		case d.Type == column.String:
			keys[row] = uint64(sort.SearchStrings(texts, d.texts[row]))
		default:
			code, exact := c.Code(keys[row])
			if !exact || c.Key(code) != keys[row] {
				t.Fatalf("column %q: key %d has code %d of key %d", c.Name, keys[row], code, c.Key(code))
			}
			keys[row] = code
		}
	}
	return keys
}

// checkCodes compares the stored values.
func checkCodes(t testing.TB, table *plan.Table, c uint32, want []uint64, missing []bool) {
	t.Helper()
	codes, err := table.Codes(c)
	if err != nil {
		t.Fatal(err)
	}
	for row, w := range want {
		if got, ok := codes.At(uint32(row)); ok == missing[row] || ok && got != w {
			t.Fatalf("column %d, row %d: code %d (%v), want %d", c, row, got, ok, w)
		}
	}
}

// checkAnswers asks for each of some bins, for missing values, and for ranges of codes
// that cut bins, and compares with a scan.
func checkAnswers(t testing.TB, store plan.TableStore, c *column.Column, number uint32, codes []uint64, missing []bool) {
	t.Helper()
	var s plan.SelectBatch
	s.Reset()
	var want []func(row int) bool
	ask := func(is func(row int) bool) {
		s.End()
		want = append(want, is)
	}
	bins := len(c.Bins)
	for i := 0; i < bins; i += 1 + bins/50 {
		b := c.Bins[i]
		if c.Encoding == column.None {
			s.Do(plan.StepAll)
			s.Check(number, plan.CodeRange{Lo: b.Lo, Hi: b.Hi})
		} else {
			c.Push(&s, []column.Run{{From: i, To: i}}, false)
		}
		ask(func(row int) bool { return !missing[row] && b.Lo <= codes[row] && codes[row] <= b.Hi })
		if tight := slices.Contains(codes, b.Lo) && slices.Contains(codes, b.Hi); !tight {
			t.Fatalf("column %q: no row has code %d or %d, where bin %d ends", c.Name, b.Lo, b.Hi, i)
		}
	}
	c.Push(&s, nil, true)
	ask(func(row int) bool { return missing[row] })
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		if bins == 0 {
			break
		}
		lo, hi := codes[rng.IntN(len(codes))], codes[rng.IntN(len(codes))]
		lo, hi = min(lo, hi), max(lo, hi)
		ranges := c.Snap([]plan.CodeRange{{Lo: lo, Hi: hi}})
		whole, checked := c.Cover(ranges)
		if c.Encoding == column.None {
			s.Do(plan.StepAll)
			s.Check(number, ranges...)
		} else {
			c.Push(&s, checked, false)
			s.Check(number, ranges...)
			c.Push(&s, whole, false)
			s.Do(plan.StepOr)
		}
		ask(func(row int) bool { return !missing[row] && lo <= codes[row] && codes[row] <= hi })
	}
	var rows plan.Rows
	if err := store.Select(t.Context(), &s, &rows); err != nil {
		t.Fatal(err)
	}
	for i, is := range want {
		set := rows.Selection(i)
		for row := range codes {
			if got := set[row/64]>>(row%64)&1 != 0; got != is(row) {
				t.Fatalf("column %q (%v, %v, %d bins), selection %d: row %d: %v", c.Name, c.Type, c.Encoding, bins, i, row, got)
			}
		}
	}
}

// least is the question which values of an Int column are value at least.
type least struct {
	t      testing.TB
	path   string
	column int
	value  int64
}

func (q least) count() uint32 {
	q.t.Helper()
	f, err := hdb.Open(q.path)
	if err != nil {
		q.t.Fatal(err)
	}
	defer f.Close()
	backend := hostfallback.New(hostfallback.Options{})
	defer backend.Close()
	store, err := backend.LoadTable(q.t.Context(), f.Table())
	if err != nil {
		q.t.Fatal(err)
	}
	defer store.Close()
	c := f.Columns()[q.column]
	lo, _ := c.Code(max(column.IntKey(q.value), c.Key(0)))
	ranges := c.Snap([]plan.CodeRange{{Lo: lo, Hi: math.MaxUint64}})
	s := plan.SelectBatch{Output: plan.OutputCounts}
	s.Reset()
	s.Do(plan.StepAll)
	s.Check(uint32(q.column), ranges...)
	s.End()
	var rows plan.Rows
	if err := store.Select(q.t.Context(), &s, &rows); err != nil {
		q.t.Fatal(err)
	}
	return rows.Counts[0]
}
