package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/tables"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/partial"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
	"heddle/engine/table/read/parquet"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
	"heddle/engine/table/values/arrow"
	valuesparquet "heddle/engine/table/values/parquet"
)

// valued is a row with a single value and two multi-valued ones.
type valued struct {
	Year int      `json:"year"`
	Tags []string `json:"tags"`
	N    []int    `json:"n"`
}

// valuedRows makes rows; some have no values, or a value twice.
func valuedRows(n int) []valued {
	r := rand.New(rand.NewPCG(3, 4))
	rows := make([]valued, n)
	for i := range rows {
		x := &rows[i]
		x.Year = 1990 + r.IntN(30)
		for range r.IntN(4) {
			x.Tags = append(x.Tags, string(rune('a'+r.IntN(5))))
		}
		if i%1000 == 0 {
			for range 300 {
				x.N = append(x.N, r.IntN(100))
			}
		}
		for range r.IntN(3) {
			x.N = append(x.N, r.IntN(1000)-500)
		}
	}
	return rows
}

// buildValued builds the table of rows from CSV.
func buildValued(t *testing.T, rows []valued) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("year,tags,n\n")
	cell := func(v any) string {
		b, _ := json.Marshal(v)
		return `"` + strings.ReplaceAll(strings.TrimPrefix(string(b), "null"), `"`, `""`) + `"`
	}
	for _, x := range rows {
		fmt.Fprintf(&text, "%d,%s,%s\n", x.Year, cell(x.Tags), cell(x.N))
	}
	types := map[string]column.Declared{"tags": {Type: column.String, List: true}, "n": {Type: column.Int, List: true}}
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(text.String()), Types: types})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	path := filepath.Join(t.TempDir(), "values.hdb")
	if _, err := tablebuild.Build(t.Context(), src, path, tablebuild.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

func openValued(t *testing.T, rows []valued) *Table {
	t.Helper()
	return openValuedFile(t, buildValued(t, rows))
}

func openValuedFile(t *testing.T, path string) *Table {
	t.Helper()
	e, err := New(t.Context(), backendOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	x, err := e.OpenTable(t.Context(), path, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// truth is a value of SQL's logic.
type truth int8

const (
	no      truth = -1
	unknown truth = 0
	yes     truth = 1
)

// anyOf is the truth of a test of some value.
func anyOf[T any](values []T, test func(T) bool) truth {
	switch {
	case len(values) == 0:
		return unknown
	case slices.ContainsFunc(values, test):
		return yes
	}
	return no
}

// anyWhere are predicates with their truth for a row.
var anyWhere = []struct {
	where string
	holds func(x valued) truth
}{
	{"tags = 'a'", func(x valued) truth { return anyOf(x.Tags, func(v string) bool { return v == "a" }) }},
	{"tags != 'b'", func(x valued) truth { return -anyOf(x.Tags, func(v string) bool { return v == "b" }) }},
	{"tags = 'none'", func(x valued) truth { return anyOf(x.Tags, func(string) bool { return false }) }},
	{"tags >= 'a'", func(x valued) truth { return anyOf(x.Tags, func(string) bool { return true }) }},
	{"tags IN ('a', 'd')", func(x valued) truth { return anyOf(x.Tags, func(v string) bool { return v == "a" || v == "d" }) }},
	{"tags NOT IN ('a', NULL)", func(x valued) truth {
		return -max(unknown, anyOf(x.Tags, func(v string) bool { return v == "a" }))
	}},
	{"tags LIKE '_'", func(x valued) truth { return anyOf(x.Tags, func(string) bool { return true }) }},
	{"tags LIKE 'c%'", func(x valued) truth { return anyOf(x.Tags, func(v string) bool { return v == "c" }) }},
	{"tags CONTAINS ALL ('a', 'b')", func(x valued) truth {
		return min(anyOf(x.Tags, func(v string) bool { return v == "a" }), anyOf(x.Tags, func(v string) bool { return v == "b" }))
	}},
	{"n BETWEEN 10 AND 60", func(x valued) truth { return anyOf(x.N, func(v int) bool { return v >= 10 && v <= 60 }) }},
	{"n BETWEEN NULL AND 60", func(x valued) truth {
		if len(x.N) > 0 && slices.Min(x.N) > 60 {
			return no
		}
		return unknown
	}},
	{"n < -100", func(x valued) truth { return anyOf(x.N, func(v int) bool { return v < -100 }) }},
	{"n > 0.5", func(x valued) truth { return anyOf(x.N, func(v int) bool { return v > 0 }) }},
	{"n IS NULL", func(x valued) truth { return truthOf(len(x.N) == 0) }},
	{"year < 2000", func(x valued) truth { return truthOf(x.Year < 2000) }},
	{"year CONTAINS ALL (1999)", func(x valued) truth { return truthOf(x.Year == 1999) }},
}

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// TestSelectValues compares predicates on multi-valued columns, and random combinations, with a plain
// evaluation.
func TestSelectValues(t *testing.T) {
	rows := valuedRows(5000)
	x := openValued(t, rows)
	check := func(where string, holds func(valued) truth) {
		t.Helper()
		got, err := x.Select(t.Context(), Selection{Where: where})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		n := uint64(0)
		for i, row := range rows {
			want, in := holds(row) == yes, got.Bits[i/64]>>(i%64)&1 != 0
			if want != in {
				t.Fatalf("%s: row %d %+v selected: %v, want %v", where, i, row, in, want)
			}
			if want {
				n++
			}
		}
		if got.Count != n {
			t.Errorf("%s: count %d, want %d", where, got.Count, n)
		}
	}
	for _, a := range anyWhere {
		check(a.where, a.holds)
		check("NOT "+a.where, func(x valued) truth { return -a.holds(x) })
		check(a.where+" IS NOT TRUE", func(x valued) truth { return truthOf(a.holds(x) != yes) })
		check(a.where+" IS NOT FALSE", func(x valued) truth { return truthOf(a.holds(x) != no) })
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range pick(200, 40) {
		where, holds := randomAny(r, 3)
		check(where, holds)
	}
}

// randomAny is a random combination of anyWhere.
func randomAny(r *rand.Rand, depth int) (string, func(valued) truth) {
	if depth == 0 || r.IntN(4) == 0 {
		a := anyWhere[r.IntN(len(anyWhere))]
		return a.where, a.holds
	}
	a, holdsA := randomAny(r, depth-1)
	b, holdsB := randomAny(r, depth-1)
	switch r.IntN(3) {
	case 0:
		return "NOT (" + a + ")", func(x valued) truth { return -holdsA(x) }
	case 1:
		return "(" + a + ") AND (" + b + ")", func(x valued) truth { return min(holdsA(x), holdsB(x)) }
	}
	return "(" + a + ") OR (" + b + ")", func(x valued) truth { return max(holdsA(x), holdsB(x)) }
}

// lines runs an aggregation and returns its answer as JSON lines.
func valueLines(t *testing.T, x *Table, a Aggregation) string {
	t.Helper()
	var out strings.Builder
	w := values.NewLines(&out)
	if err := x.Aggregate(t.Context(), a, func(b values.Batch) error { return w.Write(b) }); err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestSelectArrays gives back the arrays of selected rows, in both orders.
func TestSelectArrays(t *testing.T) {
	rows := valuedRows(3000)
	x := openValued(t, rows)
	for _, order := range []string{"", "year DESC"} {
		got := valueLines(t, x, Aggregation{Select: "*", OrderBy: order, Rows: Selection{Where: "tags = 'a'"}})
		var want []valued
		for _, row := range rows {
			if slices.Contains(row.Tags, "a") {
				want = append(want, row)
			}
		}
		if order != "" {
			slices.SortStableFunc(want, func(a, b valued) int { return b.Year - a.Year })
		}
		var text strings.Builder
		for _, row := range want {
			b, _ := json.Marshal(row)
			text.Write(append(b, '\n'))
		}
		if got != text.String() {
			t.Errorf("order %q: %d bytes, want %d: %.200s", order, len(got), text.Len(), got)
		}
	}
}

// TestGroupValues counts a row once in the group of each of its different values.
func TestGroupValues(t *testing.T) {
	rows := valuedRows(5000)
	x := openValued(t, rows)
	type group struct{ rows, years, withN int }
	all := map[string]*group{}
	low, high := 0, 0 // rows with a value of n below 0, and of 0 or more
	for _, row := range rows {
		tags := slices.Compact(slices.Sorted(slices.Values(row.Tags)))
		if len(tags) == 0 {
			tags = []string{"null"}
		}
		for _, tag := range tags {
			if tag != "null" {
				tag = `"` + tag + `"`
			}
			if all[tag] == nil {
				all[tag] = &group{}
			}
			g := all[tag]
			g.rows, g.years = g.rows+1, g.years+row.Year
			if len(row.N) > 0 {
				g.withN++
			}
		}
		if slices.ContainsFunc(row.N, func(v int) bool { return v < 0 }) {
			low++
		}
		if slices.ContainsFunc(row.N, func(v int) bool { return v >= 0 }) {
			high++
		}
	}
	want := ""
	for _, tag := range []string{`"a"`, `"b"`, `"c"`, `"d"`, `"e"`, "null"} {
		g := all[tag]
		want += fmt.Sprintf(`{"tags":%s,"rows":%d,"years":%d,"n":%d}`+"\n", tag, g.rows, g.years, g.withN)
	}
	if got := valueLines(t, x, Aggregation{Select: "tags, count(*) AS rows, sum(year) AS years, count(n) AS n", GroupBy: "tags"}); got != want {
		t.Errorf("groups\n%s, want\n%s", got, want)
	}
	want = fmt.Sprintf("{\"n\":\"< 0\",\"rows\":%d}\n{\"n\":\">= 0\",\"rows\":%d}\n", low, high)
	if got := valueLines(t, x, Aggregation{Select: "bins(n, 0) AS n, count(*) AS rows", GroupBy: "bins(n, 0)", Rows: Selection{Where: "n IS NOT NULL"}}); got != want {
		t.Errorf("bins\n%s, want\n%s", got, want)
	}
	for want, a := range map[string]Aggregation{
		"is multi-valued and in GROUP BY": {Select: "sum(n)", GroupBy: "n"}, "sum and avg are for numbers": {Select: "sum(tags)"}, "one such column": {Select: "count(*)", GroupBy: "tags, n"}, "have no order by it": {Select: "year", OrderBy: "n"},
	} {
		err := x.Aggregate(t.Context(), a, func(values.Batch) error { return nil })
		if CodeOf(err) != InvalidQuery || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", a, err)
		}
	}
	if _, err := x.Select(t.Context(), Selection{Where: "n = year"}); CodeOf(err) != InvalidQuery {
		t.Errorf("comparison with another column: %v", err)
	}
}

// TestAggregateValues: aggregates of a multi-valued column are of all values of the rows.
func TestAggregateValues(t *testing.T) {
	rows := valuedRows(5000)
	x := openValued(t, rows)
	const list = "count(n) AS rows, min(n) AS low, max(n) AS high, sum(n) AS total, avg(n) AS mean, count(DISTINCT n) AS different, quantile(n, 0.5) AS median, max(tags) AS tag"
	line := func(keep func(r *valued) bool) string {
		var all []int
		withN, total, tag := 0, 0, ""
		for i := range rows {
			if !keep(&rows[i]) {
				continue
			}
			if len(rows[i].N) > 0 {
				withN++
			}
			for _, v := range rows[i].N {
				all, total = append(all, v), total+v
			}
			for _, v := range rows[i].Tags {
				tag = max(tag, v)
			}
		}
		slices.Sort(all)
		different := len(slices.Compact(slices.Clone(all)))
		mean := strconv.FormatFloat(float64(total)/float64(len(all)), 'g', -1, 64)
		return fmt.Sprintf(`"rows":%d,"low":%d,"high":%d,"total":%d,"mean":%s,"different":%d,"median":%d,"tag":%q}`+"\n",
			withN, all[0], all[len(all)-1], total, mean, different, all[(len(all)+1)/2-1], tag)
	}
	if got, want := valueLines(t, x, Aggregation{Select: list}), "{"+line(func(*valued) bool { return true }); got != want {
		t.Errorf("one group: %s, want %s", got, want)
	}
	years, tags := "", ""
	for year := 1990; year < 2020; year++ {
		years += fmt.Sprintf(`{"year":%d,`, year) + line(func(r *valued) bool { return r.Year == year })
	}
	if got := valueLines(t, x, Aggregation{Select: "year, " + list, GroupBy: "year"}); got != years {
		t.Errorf("by year:\n%s, want\n%s", got, years)
	}
	for _, tag := range []string{"a", "b", "c", "d", "e"} {
		text, _, _ := strings.Cut(line(func(r *valued) bool { return slices.Contains(r.Tags, tag) }), `,"tag"`)
		tags += fmt.Sprintf(`{"tags":%q,`, tag) + text + "}\n"
	}
	clauses := Aggregation{Select: "tags, " + strings.TrimSuffix(list, ", max(tags) AS tag"), GroupBy: "tags", Rows: Selection{Where: "tags IS NOT NULL"}}
	if got := valueLines(t, x, clauses); got != tags {
		t.Errorf("by tag:\n%s, want\n%s", got, tags)
	}
	none := `{"low":null,"total":null,"mean":null,"different":0}` + "\n"
	if got := valueLines(t, x, Aggregation{Select: "min(n) AS low, sum(n) AS total, avg(n) AS mean, count(DISTINCT n) AS different", Rows: Selection{Where: "n IS NULL"}}); got != none {
		t.Errorf("no value: %s", got)
	}
}

// TestAggregateValuesInParts joins the answers of parts of a table.
func TestAggregateValuesInParts(t *testing.T) {
	rows := valuedRows(3000)
	whole, a, b := openValued(t, rows), openValued(t, rows[:1100]), openValued(t, rows[1100:])
	for _, ask := range []Aggregation{
		{Select: "*"}, {Select: "n, year", OrderBy: "year", Limit: 50}, {Select: "tags, count(*), max(year)", GroupBy: "tags"},
		{Select: "n, count(*)", GroupBy: "n", OrderBy: "2 DESC, 1", Limit: 20}, {Select: "tags", Rows: Selection{Where: "tags IS NULL"}},
		{Select: "year, min(n), max(n), sum(n), avg(n), count(DISTINCT n), max(tags), quantile(tags, 0.4)", GroupBy: "year"}, {Select: "sum(n), avg(n), min(tags)"},
	} {
		want := valueLines(t, whole, ask)
		var parts []*partial.State
		for _, x := range []*Table{a, b} {
			ask := ask
			ask.SetInternal(new(partial.State))
			if err := x.Aggregate(t.Context(), ask, nil); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, ask.Internal())
		}
		batch, err := tables.Join(statement.Clauses{Select: ask.Select, GroupBy: ask.GroupBy, OrderBy: ask.OrderBy}, limit.Limits{}, parts, ask.Offset, ask.Limit)
		if err != nil {
			t.Fatalf("%+v: %v", ask, err)
		}
		var out strings.Builder
		w := values.NewLines(&out)
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		if w.Close(); out.String() != want {
			t.Errorf("%+v: %.300s, want %.300s", ask, out.String(), want)
		}
	}
}

// TestValuesRoundTrip writes a table in each form and builds it again.
func TestValuesRoundTrip(t *testing.T) {
	rows := valuedRows(2000)
	rows[7].Tags = []string{"", `a "b", c`, "é\n"}
	x := openValued(t, rows)
	want := valueLines(t, x, Aggregation{Select: "*"})
	written := func(w func(io.Writer) values.Writer) *strings.Builder {
		var out strings.Builder
		to := w(&out)
		if err := x.Aggregate(t.Context(), Aggregation{Select: "*"}, to.Write); err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := os.WriteFile(path, []byte(written(valuesparquet.New).String()), 0o600); err != nil {
		t.Fatal(err)
	}
	types := map[string]column.Declared{"tags": {Type: column.String, List: true}, "n": {Type: column.Int, List: true}}
	fromCSV, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(written(values.NewCSV).String()), Types: types})
	if err != nil {
		t.Fatal(err)
	}
	fromParquet, err := parquet.Open(t.Context(), []string{path}, parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]read.Source{"CSV": fromCSV, "Parquet": fromParquet} {
		built := filepath.Join(t.TempDir(), "t.hdb")
		if _, err := tablebuild.Build(t.Context(), src, built, tablebuild.Options{}); err != nil {
			t.Fatal(err)
		}
		src.Close()
		if again := valueLines(t, openValuedFile(t, built), Aggregation{Select: "*"}); again != want {
			t.Errorf("%s: %.300s\nwant %.300s", name, again, want)
		}
	}
	stream, err := ipc.NewReader(strings.NewReader(written(arrow.New).String()))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Release()
	row := 0
	for stream.Next() {
		tags := stream.RecordBatch().Column(1).(*array.List)
		texts := tags.ListValues().(*array.String)
		for i := range tags.Len() {
			var got []string
			for k, end := tags.ValueOffsets(i); k < end; k++ {
				got = append(got, texts.Value(int(k)))
			}
			if !slices.Equal(got, rows[row].Tags) || tags.IsNull(i) != (len(rows[row].Tags) == 0) {
				t.Fatalf("Arrow: row %d has %q, want %q", row, got, rows[row].Tags)
			}
			row++
		}
	}
	if row != len(rows) || stream.Err() != nil {
		t.Errorf("Arrow: %d rows, %v", row, stream.Err())
	}
}
