package bitmap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/bench/benchtest"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/table/column"
)

// realSet makes one of the sets of realTables.
func realSet(t *testing.T, s *bench, name string, word int) *set {
	t.Helper()
	all, err := s.realTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, draw := range all {
		set, err := draw(t.Context(), word)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := set.close(); err != nil {
				t.Error(err)
			}
		})
		if set.name == name {
			return set
		}
	}
	t.Fatalf("no set %s", name)
	return nil
}

// TestRealTables: rows are the rows of the files, repeated if necessary, and each is in
// one bin of every column.
func TestRealTables(t *testing.T) {
	dir := t.TempDir()
	benchtest.WriteTables(t, dir)
	for _, folder := range []string{"", "kddcup99", "flights"} {
		s := &bench{Runner: harnesstest.Runner(t, harness.Options{Real: filepath.Join(dir, folder), Rows: 2000, Seed: 1})}
		all, err := s.realTables()
		if want := map[string]int{"": 2}[folder]; err != nil || len(all) != max(want, 1) {
			t.Errorf("folder %q: %d tables, %v", folder, len(all), err)
		}
	}
	s := &bench{Runner: harnesstest.Runner(t, harness.Options{Real: dir, Rows: 2000, Seed: 1})}
	for _, word := range []int{32, 64} {
		kdd := realSet(t, s, "kdd", word)
		if kdd.table.Rows != 2000 || kdd.table.Word() != word || len(kdd.columns) != 42 {
			t.Fatalf("kdd: %d rows, %d-bit words, %d columns", kdd.table.Rows, kdd.table.Word(), len(kdd.columns))
		}
		checkColumn(t, kdd, 1, func(row int) string { return []string{"tcp", "udp"}[row%benchtest.WrittenKDD/100%2] })
		checkColumn(t, kdd, 0, func(row int) string { return fmt.Sprint(row % benchtest.WrittenKDD % 7) })
		flights := realSet(t, s, "flights", word)
		if flights.table.Rows != benchtest.WrittenFlights || len(flights.columns) != 2 || flights.columns[0].Name != "delay_min" {
			t.Fatalf("flights: %d rows of %v", flights.table.Rows, flights.columns)
		}
		checkColumn(t, flights, 0, func(row int) string { return fmt.Sprint(benchtest.FlightDelay(row)) })
		if !slices.Equal(flights.picks, newSet("", flights.table, 1).picks) {
			t.Error("flights: another order of vectors")
		}
	}
	s.Opt.Rows = 500
	if n := realSet(t, s, "flights", 64).table.Rows; n != 500 {
		t.Errorf("%d rows of 500", n)
	}
}

// checkColumn checks that each row is only in the bin of its value.
func checkColumn(t *testing.T, set *set, i int, value func(row int) string) {
	t.Helper()
	c := &set.columns[i]
	bins := make([][]uint64, len(c.Bins))
	for k := range bins {
		var err error
		if bins[k], err = set.table.Bitset(c.Vector + uint32(k)); err != nil {
			t.Fatal(err)
		}
	}
	for row := range int(set.table.Rows) {
		kind := column.Number
		if c.Type == column.String {
			kind = column.Text
		}
		codes, err := c.Compare(column.Eq, column.Literal{Kind: kind, Text: value(row)})
		if err != nil || len(codes) != 1 {
			t.Fatalf("%s, row %d: %v, %v", set.name, row, codes, err)
		}
		want, _ := c.Find(codes[0].Lo)
		for k, b := range bins {
			if got := b[row/64]>>(row%64)&1 == 1; got != (k == want) {
				t.Fatalf("%s, column %s, row %d: bin %d is %v, its bin is %d", set.name, c.Name, row, k, got, want)
			}
		}
	}
	if n := wah.Bitset(uint64(set.table.Rows)); len(bins[0]) != n {
		t.Errorf("%d words of %d", len(bins[0]), n)
	}
}

// TestRealTablesDamaged: an error names the file.
func TestRealTablesDamaged(t *testing.T) {
	dir := t.TempDir()
	benchtest.WriteTables(t, dir)
	path := filepath.Join(dir, "kddcup99", "corrected.gz")
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	s := &bench{Runner: harnesstest.Runner(t, harness.Options{Real: dir, Rows: 2000, Seed: 1})}
	all, err := s.realTables()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all[0](t.Context(), 64); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}

// TestFlightFile: the file has the requested number of rows, and count agrees with a
// scan of its text.
func TestFlightFile(t *testing.T) {
	s := &bench{Runner: harnesstest.Runner(t, harness.Options{Rows: 5000, Seed: 1})}
	f, err := s.newFlights()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	}()
	content, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) != 5001 || len(f.delay) != 5000 {
		t.Fatalf("%d lines, %d rows", len(lines), len(f.delay))
	}
	n := uint32(0)
	for i, line := range lines[1:] {
		var minutes, delay, distance int
		var rest string
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%d %d %d %s", &minutes, &delay, &distance, &rest); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if delay != int(f.delay[i]) || distance != int(f.distance[i]) {
			t.Fatalf("row %d is %q, not %d and %d", i, line, f.delay[i], f.distance[i])
		}
		if delay >= 10 && delay <= 30 && distance >= 500 && distance <= 1000 {
			n++
		}
	}
	if got := f.count([2]int16{10, 30}, [2]int16{500, 1000}); got != n || n == 0 {
		t.Errorf("counted %d rows, want %d", got, n)
	}
}
