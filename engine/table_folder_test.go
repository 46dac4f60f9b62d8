package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/internal/folder"
	"heddle/engine/plan"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	read "heddle/engine/table/read/csv"
	"heddle/engine/table/values"
)

// folderFile builds a table file of lines of CSV.
func folderFile(t *testing.T, path string, lines []string) {
	t.Helper()
	types := map[string]column.Declared{}
	for name, kind := range map[string]string{"n": "int", "x": "float", "s": "string", "d": "decimal(20,2)", "at": "timestamp", "tags": "string[]"} {
		var err error
		if types[name], err = column.ParseDeclared(kind); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Join(append([]string{"n,x,s,d,at,tags"}, lines...), "\n") + "\n"
	src, err := read.Open(t.Context(), []string{"-"}, read.Options{Stdin: strings.NewReader(text), Types: types, Null: []string{`\N`}})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := tablebuild.Build(t.Context(), src, path, tablebuild.Options{}); err != nil {
		t.Fatal(err)
	}
}

// folderLines draws lines of CSV. Later rows have other values, so that dictionaries, ranks, units and bounds of files
// differ.
func folderLines(r *rand.Rand, n int) (lines []string) {
	null := func(s string) string {
		if r.IntN(6) == 0 {
			return `\N`
		}
		return s
	}
	for i := range n {
		lines = append(lines, strings.Join([]string{
			null(fmt.Sprint(10*r.IntN(30) + i/100)), null(fmt.Sprint(float64(r.IntN(100)) / 8)), null(fmt.Sprintf("k%03d", r.IntN(20)+i/50)),
			null(fmt.Sprintf("%d.25", r.IntN(1000)-500)), null(fmt.Sprintf("2025-01-%02d", 1+min(30, i*30/n))), null(fmt.Sprintf(`"[""t%d"",""u%d""]"`, r.IntN(5), i/200)),
		}, ","))
	}
	return lines
}

// answers are the answers of a table to all kinds of queries.
func folderAnswers(t *testing.T, table *Table) (all []string) {
	t.Helper()
	for _, where := range []string{"TRUE", "n < 150", "n > d", "s LIKE 'k01%'", "s IN ('k003', 'k017', 'none')", "x IS NULL AND at >= '2025-01-10'", "tags = 't3'",
		"NOT (n = 20 OR d BETWEEN -10 AND 90)", "tags CONTAINS ALL ('t1', 'u0')"} {
		rows, err := table.Select(t.Context(), Selection{Where: where, Output: plan.OutputBits})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		all = append(all, fmt.Sprintf("%s: %d rows, %x", where, rows.Count, rows.Bits))
	}
	for _, a := range []Aggregation{
		{Select: "*"}, {Select: "n, s, tags", OrderBy: "s DESC, x", Limit: 20}, {Select: "at, d", OrderBy: "n", Offset: 3, Limit: 9},
		{Select: "count(*), count(n), sum(n), avg(x), min(s), max(at), sum(d), count(DISTINCT s), quantile(d, 0.3)"},
		{Select: "s, count(*), sum(x), max(n)", GroupBy: "s", OrderBy: "count(*) DESC"}, {Select: "at, s, min(d)", GroupBy: "at, s"},
		{Select: "tags, count(*)", GroupBy: "tags"}, {Select: "bins(n), count(*)", GroupBy: "bins(n)"}, {Select: "n, quantile(x, 0.5)", GroupBy: "n", Rows: Selection{Where: "s < 'k010'"}},
	} {
		var text bytes.Buffer
		w := values.NewLines(&text)
		if err := errors.Join(table.Aggregate(t.Context(), a, w.Write), w.Close()); err != nil {
			t.Fatalf("%s: %v", a.Select, err)
		}
		all = append(all, a.Select+": "+text.String())
	}
	return all
}

// TestFolder splits tables into files at random places: the folder has the answers of one file, before and after a file is
// added and the table is loaded again.
func TestFolder(t *testing.T) {
	if !onHost() {
		t.Skip("the table of a folder is like others: TestTable has the device answer")
	}
	t.Setenv("HEDDLE_CACHE", t.TempDir())
	e := tableEngine(t, backendOptions(t))
	r := rand.New(rand.NewPCG(7, 8))
	for k, parts := range []int{2, 3, 5} {
		lines := folderLines(r, 300+r.IntN(500))
		dir := t.TempDir()
		one, many := filepath.Join(dir, "one.hdb"), filepath.Join(dir, "many")
		folderFile(t, one, lines)
		cuts := []int{0, len(lines)}
		for len(cuts) <= parts {
			cuts = append(cuts, r.IntN(len(lines)+1))
		}
		slices.Sort(cuts)
		add := func(i int) {
			path := filepath.Join(dir, fmt.Sprintf("2025-%02d.hdb", i))
			folderFile(t, path, lines[cuts[i]:cuts[i+1]])
			if err := folder.Append(many, path); err != nil {
				t.Fatal(err)
			}
		}
		for _, i := range r.Perm(parts - 1) { // their names order the rows
			add(i)
		}
		whole, err := e.OpenTable(t.Context(), one, TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		joined, err := e.OpenTable(t.Context(), many, TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		add(parts - 1)
		for range 2 { // the second time the merged table is there
			if err := joined.Reload(t.Context(), many); err != nil {
				t.Fatal(err)
			}
			got, want := folderAnswers(t, joined), folderAnswers(t, whole)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("table %d in files at %v: %s\nwant %s", k, cuts, got[i], want[i])
				}
			}
		}
		if info, err := joined.Info(); err != nil || info.Path != many || info.Rows != uint32(len(lines)) {
			t.Errorf("%+v, %v", info, err)
		}
		if kept, _ := filepath.Glob(filepath.Join(os.Getenv("HEDDLE_CACHE"), "tables", "*")); len(kept) != k+1 {
			t.Errorf("%q are kept, want the last state of each folder", kept)
		}
		if err := errors.Join(whole.Close(), joined.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestFolderErrors: files with other columns, names that are taken and folders without tables are errors.
func TestFolderErrors(t *testing.T) {
	if !onHost() {
		t.Skip("no device takes part")
	}
	t.Setenv("HEDDLE_CACHE", "off")
	e := tableEngine(t, backendOptions(t))
	dir := t.TempDir()
	many, good, bad := filepath.Join(dir, "many"), filepath.Join(dir, "a.hdb"), filepath.Join(dir, "b.hdb")
	folderFile(t, good, []string{"1,2,x,3.00,2025-01-01,[]"})
	src, err := read.Open(t.Context(), []string{"-"}, read.Options{Stdin: strings.NewReader("n,x,text\n1,2,3\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := tablebuild.Build(t.Context(), src, bad, tablebuild.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := folder.Append(many, good); err != nil {
		t.Fatal(err)
	}
	if err := folder.Append(many, good); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file twice: %v", err)
	}
	differs := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "b.hdb: column ") || !strings.Contains(err.Error(), "the columns differ") {
			t.Errorf("other columns: %v", err)
		}
	}
	differs(folder.Append(many, bad))
	if err := os.Rename(bad, filepath.Join(many, "b.hdb")); err != nil {
		t.Fatal(err)
	}
	_, err = e.OpenTable(t.Context(), many, TableOptions{})
	differs(err)
	if _, err := e.OpenTable(t.Context(), t.TempDir(), TableOptions{}); CodeOf(err) != NotFound {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.Remove(filepath.Join(many, "b.hdb")); err != nil {
		t.Fatal(err)
	}
	folderFile(t, filepath.Join(many, "c.hdb"), []string{"5,2,y,3.00,2025-01-01,[]"})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	table, err := e.OpenTable(t.Context(), "many", TableOptions{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if rows, err := table.Select(t.Context(), Selection{Where: "n > 0"}); err != nil || rows.Count != 2 {
		t.Errorf("%d rows without a cache, %v", rows.Count, err)
	}
}
