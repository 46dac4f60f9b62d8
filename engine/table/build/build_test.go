package build

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
	"heddle/engine/table/read/raw"
)

// everything has a column of each type, encoding and binning, some with missing values
// and one of each type with nothing else, and the settings that make it so.
func everything(rows int) (*table, map[string]Settings) {
	var columns []data
	set := map[string]Settings{}
	for _, typ := range []column.Type{column.Int, column.Float, column.String, column.Bool, column.Timestamp, column.TimestampNS} {
		for _, e := range []column.Encoding{column.Equality, column.Range, column.Interval} {
			for b := column.Auto; b <= column.Lloyd; b++ {
				n := len(columns)
				missing := []float64{0, 0.2}[n%2]
				name := fmt.Sprint(typ, " ", e, " ", b)
				columns = append(columns, make1(name, typ, rows, 1+n*7%300, missing, uint64(n)))
				set[name] = Settings{Bins: 1 + n*5%40, Binning: b, Encoding: e}
			}
		}
		columns = append(columns, make1(fmt.Sprint("no ", typ), typ, rows, 10, 1, 0))
	}
	return newTable(columns...), set
}

// TestBuild builds every type in every encoding and binning, in words of both sizes.
func TestBuild(t *testing.T) {
	for _, c := range []struct{ rows, word int }{
		{0, 32}, {1, 64}, {30, 32}, {31, 32}, {32, 32}, {62, 64}, {63, 64}, {64, 64}, {2000, 32}, {2000, 64},
	} {
		src, set := everything(c.rows)
		path, r := build(t, src, Options{Columns: set, Word: c.word})
		if r.Word != c.word || int(r.Rows) != c.rows || len(r.Columns) != len(src.columns) {
			t.Fatalf("report %+v", r)
		}
		for _, c := range r.Columns {
			if s, ok := set[c.Name]; ok && (c.Encoding != s.Encoding || s.Binning != column.Auto && c.Binning != s.Binning || s.Binning != column.Distinct && c.Bins > s.Bins) {
				t.Fatalf("report %+v, want %+v", c, s)
			}
		}
		check(t, path, src)
	}
}

// TestManyBins has 10,000 bins, and a thousand that are added up.
func TestManyBins(t *testing.T) {
	const rows = 11000
	a, b := make1("a", column.Int, rows, 1, 0, 1), make1("b", column.Int, rows, 1, 0.1, 2)
	for row := range rows {
		a.keys[row], b.keys[row] = uint64(row*7919%10000), uint64(row*7919%3000)
	}
	src := newTable(a, b)
	path, r := build(t, src, Options{Word: 32, Columns: map[string]Settings{
		"a": {Binning: column.Distinct}, "b": {Bins: 1000, Binning: column.Quantile, Encoding: column.Interval},
	}})
	if r.Columns[0].Bins != 10000 || r.Columns[1].Bins != 1000 {
		t.Fatalf("%d and %d bins", r.Columns[0].Bins, r.Columns[1].Bins)
	}
	check(t, path, src)
}

// TestWideCodes has keys that are further apart than 2^32.
func TestWideCodes(t *testing.T) {
	const rows = 1000
	var columns []data
	for i, e := range []int64{math.MaxInt64, 1 << 33, 1 << 32, 1<<32 - 1} {
		d := make1(fmt.Sprint("c", i), column.Int, rows, 2, 0, 1)
		for row := range rows {
			d.keys[row] = column.IntKey([]int64{-e / 2, e - e/2, int64(row), -e / 2}[row%4])
		}
		columns = append(columns, d)
	}
	ends := make1("ends", column.Int, rows, 2, 0, 1)
	for row := range rows {
		ends.keys[row] = []uint64{0, math.MaxUint64, 1 << 63}[row%3]
	}
	src := newTable(append(columns, ends)...)
	path, _ := build(t, src, Options{Settings: Settings{Bins: 2}})
	check(t, path, src)
}

// TestMemory: a small memory limit gives the same table as a large one.
func TestMemory(t *testing.T) {
	const rows = 30000
	src := newTable(
		make1("a", column.Int, rows, 100000, 0.01, 1),
		make1("b", column.Int, rows, 3, 0, 2),
		make1("c", column.String, rows, 500, 0.5, 3),
		make1("d", column.String, rows, 60000, 0, 4),
	)
	set := map[string]Settings{"a": {Bins: 30, Encoding: column.Interval}, "b": {Encoding: column.Interval}, "c": {Bins: 9, Encoding: column.Range}}
	for _, word := range []int{32, 64} {
		opt := Options{Settings: Settings{Bins: 20}, Columns: set, Word: word, run: 4 * groupRows}
		path, much := build(t, src, opt)
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		check(t, path, src)
		opt.Memory, opt.run = 100<<10, groupRows
		src.most = 777
		path, little := build(t, src, opt)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Fatalf("%d: within little memory the table differs", word)
		}
		if little.TempBytes <= much.TempBytes {
			t.Fatalf("%d: %d temporary bytes within little memory, %d within much", word, little.TempBytes, much.TempBytes)
		}
	}
}

// TestWord: 64-bit words are chosen for data of equal size in both, 32-bit words for
// data with short fills.
func TestWord(t *testing.T) {
	bits := make1("a", column.Bool, 140000, 4, 0, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range bits.keys {
		bits.keys[i] = rng.Uint64() & 1
	}
	dense := newTable(bits)
	if _, r := build(t, dense, Options{}); r.Word != 64 {
		t.Errorf("dense vectors have %d-bit words", r.Word)
	}
	sparse := newTable(make1("a", column.Int, 140000, 5000, 0, 1))
	if _, r := build(t, sparse, Options{Settings: Settings{Bins: 1000}}); r.Word != 32 {
		t.Errorf("sparse vectors have %d-bit words", r.Word)
	}
}

var errSource = errors.New("the source fails")

// TestFailure leaves nothing behind, whenever it stops.
func TestFailure(t *testing.T) {
	long := make1("long", column.String, 10, 2, 0, 1)
	long.texts[7] = strings.Repeat("x", 1<<16+1)
	ints := make1("ints", column.Int, 20000, 2000, 0, 1)
	texts := make1("texts", column.String, 20000, 2000, 0, 1)
	for name, c := range map[string]struct {
		src  *table
		opt  Options
		want string
	}{
		"word":       {newTable(ints), Options{Word: 16}, "vectors of 16-bit words"},
		"no columns": {newTable(), Options{}, "a table without columns"},
		"no name":    {newTable(data{Field: read.Field{Name: ""}}), Options{}, `column 1: its name, "", is empty`},
		"names":      {newTable(ints, texts, ints), Options{}, `two columns are called "ints"`},
		"bins":       {newTable(ints), Options{Settings: Settings{Bins: 10001}}, `column "ints": 10001 bins; possible are 1 to 10000`},
		"no column":  {newTable(ints, texts), Options{Columns: map[string]Settings{"test": {}}}, `settings: there is no column "test"; there are ints, texts (nearest: "texts")`},
		"distinct":   {newTable(make1("a", column.Int, 40000, 40000, 0, 1)), Options{Settings: Settings{Binning: column.Distinct}}, `column "a": more than 10000 different values`},
		"long text":  {newTable(long), Options{}, `column "long": a string of 65537 bytes`},
		"no folder":  {newTable(ints), Options{TempDir: "/no/such/folder"}, "no such file or directory"},
	} {
		dir := t.TempDir()
		if _, err := Build(t.Context(), c.src, filepath.Join(dir, "x.hdb"), c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		wantFolder(t, dir)
	}

	spool, err := newTemp(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	full := &builder{opt: Options{Progress: func(Progress) {}}, spool: spool, rows: math.MaxUint32 - 19999}
	if err := full.collect(t.Context(), newTable(ints)); err == nil || !strings.Contains(err.Error(), "more than 4294967295 rows") {
		t.Errorf("one row too many: error %v", err)
	}

	src, set := everything(3000)
	src.most = 100
	stop := func(at int, cause func()) func() error {
		n := 0
		return func() error {
			if n++; n == at {
				cause()
				return errSource
			}
			return nil
		}
	}
	for at := 1; at < 20; at += 6 {
		dir := t.TempDir()
		src.at, src.next = 0, stop(at, func() {})
		if _, err := Build(t.Context(), src, filepath.Join(dir, "x.hdb"), Options{Columns: set}); !errors.Is(err, errSource) {
			t.Errorf("error %v, want %v", err, errSource)
		}
		wantFolder(t, dir)
	}
	src.next = func() error { return nil }
	for at := 1; at < 200; at += 1 + at/2 {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		calls, reading := 0, 0
		src.at = 0
		_, err := Build(ctx, src, filepath.Join(dir, "x.hdb"), Options{Columns: set, Memory: 1 << 20, Progress: func(p Progress) {
			if !p.Writing {
				reading++
			}
			if calls++; calls == at {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at call %d, %d of them reading: error %v", at, reading, err)
		}
		wantFolder(t, dir)
		cancel()
	}
}

// TestProgress goes from nothing to all, twice.
func TestProgress(t *testing.T) {
	src := newTable(make1("a", column.Int, 20000, 100, 0, 1), make1("b", column.String, 20000, 100, 0.5, 1))
	var calls []Progress
	build(t, src, Options{Progress: func(p Progress) { calls = append(calls, p) }})
	var before Progress
	for i, p := range calls {
		if p.Writing != before.Writing {
			if before.Done != 20000 || before.Rows != 20000 {
				t.Fatalf("reading ended with %+v", before)
			}
			before = Progress{}
		}
		if want := map[bool]int64{false: 20000, true: 40000}[p.Writing]; p.Done <= before.Done || p.Total != want {
			t.Fatalf("call %d: %+v behind %+v", i, p, before)
		}
		before = p
	}
	if !before.Writing || before.Done != before.Total {
		t.Fatalf("the last call has %+v", before)
	}
}

// TestFlights builds a table of real flights and compares known counts.
func TestFlights(t *testing.T) {
	const dir = "../../../testdata/flights"
	var columns []raw.Column
	for _, text := range []string{"delay:i16:delay_min.i16.gz", "distance:i16:distance_miles.i16.gz", "minutes:i32:minutes.i32.gz"} {
		c, err := raw.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Path = filepath.Join(dir, c.Path)
		columns = append(columns, c)
	}
	src, err := raw.Open(t.Context(), columns, raw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	path := filepath.Join(t.TempDir(), "flights.hdb")
	r, err := Build(t.Context(), src, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	delays, distances := least{t, path, 0, 60}.count(), least{t, path, 1, 0}.count()
	if r.Rows != 500000 || delays != 24832 || distances != 500000 {
		t.Fatalf("%d rows, %d of them late, %d of any distance; want 500000, 24832, 500000", r.Rows, delays, distances)
	}
}

// TestKDD builds a table of network connections, 42 columns without a header, where the
// data are present, and compares counts with counts of the text.
func TestKDD(t *testing.T) {
	f, err := os.Open("../../../../shared/data/kddcup99/corrected.gz")
	if err != nil {
		t.Skipf("needs test data of the KDD Cup 1999: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 20000
	want := map[string]uint32{}
	var text strings.Builder
	for in := bufio.NewScanner(z); in.Scan() && want["all"] < rows; want["all"]++ {
		text.WriteString(in.Text() + "\n")
		fields := strings.Split(in.Text(), ",")
		want["protocol "+fields[1]]++
		want["attack "+fields[41]]++
	}
	names := make([]string, 42)
	for i := range names {
		names[i] = fmt.Sprint("c", i)
	}
	names[1], names[41] = "protocol", "attack"
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Names: names, Stdin: strings.NewReader(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	path := filepath.Join(t.TempDir(), "kdd.hdb")
	r, err := Build(t.Context(), src, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := hdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	got := map[string]uint32{"all": r.Rows}
	for _, c := range table.Columns() {
		if c.Name != "protocol" && c.Name != "attack" {
			continue
		}
		for _, b := range c.Bins {
			got[c.Name+" "+c.Format(b.Lo)] = b.Rows
		}
	}
	if !maps.Equal(got, want) {
		t.Fatalf("counts %v, want %v", got, want)
	}
}
