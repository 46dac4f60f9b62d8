package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/rows"
	"heddle/engine/cmd/heddle/internal/terminal"
)

// rowLines returns the output of --rows or --rows=ranges.
func rowLines(id string, rows []uint32, ranges bool) string {
	var b strings.Builder
	for i := 0; i < len(rows); i++ {
		first := i
		for ranges && i+1 < len(rows) && rows[i+1] == rows[i]+1 {
			i++
		}
		fmt.Fprintf(&b, "%s\t%d", id, rows[first])
		if ranges {
			fmt.Fprintf(&b, "\t%d", rows[i])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// backendStrategies returns the strategies of the backend under test, with auto.
func backendStrategies(t *testing.T) []string {
	t.Helper()
	r := heddle(t, "bitmap", "query", "trips.hdb", "--where", "TRUE", "--strategy", "coa")
	if r.code == exitUsage && strings.Contains(r.stderr, "has no strategy coa") {
		return []string{"auto", "fused", "iterative", "reduction"}
	}
	return []string{"auto", "fused", "coa", "roa", "hybrid", "ideal"}
}

// TestBitmapQuery runs every strategy of the backend in every form of answer.
func TestBitmapQuery(t *testing.T) {
	useBackend(t)
	trips := buildTrips(t, "--set", "distance:encoding=interval,bins=16", "--word", "32")
	var file, counts, ids, ranges strings.Builder
	for i, q := range tripWheres {
		id := fmt.Sprint("q", i)
		rows := wantRows(trips, i)
		fmt.Fprintf(&file, "%s\t%s\n\n", id, q.where)
		fmt.Fprintf(&counts, "%s\t%d\n", id, len(rows))
		ids.WriteString(rowLines(id, rows, false))
		ranges.WriteString(rowLines(id, rows, true))
	}
	writeFile(t, "p.txt", file.String())
	for _, strategy := range backendStrategies(t) {
		if got := must(t, "bitmap", "query", "trips.hdb", "--predicates", "p.txt", "--strategy", strategy, "--rows"); got != ids.String() {
			t.Errorf("%s: %d bytes, want %d of other rows", strategy, len(got), ids.Len())
		}
	}
	if r := heddle(t, "bitmap", "query", "trips.hdb", "--predicates", "p.txt", "--rescan", "--explain"); r.code != 0 || r.stdout != counts.String() {
		t.Errorf("--explain changes the answers: %+v", r)
	}
	// The output does not depend on the source of the predicates.
	host := []string{"bitmap", "query", "trips.hdb", "--backend", "host", "--device", ""}
	for _, test := range []struct{ flag, want string }{{"--count", counts.String()}, {"--rows=ids", ids.String()}, {"--rows=ranges", ranges.String()}} {
		if got := must(t, append(host, "--predicates", "p.txt", test.flag)...); got != test.want {
			t.Errorf("%s: %d bytes, want %d of other rows", test.flag, len(got), len(test.want))
		}
	}
	if r := heddleWith(t, file.String(), nil, append(host, "--predicates", "-")...); r.code != 0 || r.stdout != counts.String() || r.stderr != "" {
		t.Errorf("standard input: %+v", r)
	}
	d := json.NewDecoder(strings.NewReader(must(t, append(host, "--predicates", "p.txt", "--json", "--rows")...)))
	for i, q := range tripWheres {
		var got struct {
			Query, Where string
			Count        int
			Rows         []uint32
		}
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if want := wantRows(trips, i); got.Query != fmt.Sprint("q", i) || got.Where != q.where || got.Count != len(want) || !slices.Equal(got.Rows, want) {
			t.Errorf("%s: JSON of %d rows, %d of them listed, want %d", got.Query, got.Count, len(got.Rows), len(want))
		}
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("more objects than predicates: %v", err)
	}
	if got := must(t, append(host, "--where", "TRUE", "--json", "--rows=ranges")...); got != `{"query":"1","where":"TRUE","count":3000,"rows":[[0,2999]]}`+"\n" {
		t.Errorf("ranges in JSON: %s", got)
	}
}

// TestBitmapPredicates reads files of predicates in all formats.
func TestBitmapPredicates(t *testing.T) {
	inTempDir(t)
	writeFile(t, "t.csv", "a,\"b c\",d\n1,x,2020-01-01\n2,\"it's\",2020-01-02\n,,\n")
	must(t, "bitmap", "build", "-o", "t.hdb", "t.csv")
	many := "a IN (2" + strings.Repeat(", 7", 10_000) + ")"
	for file, want := range map[string]string{
		"a=1\n\na<>1\n":  "1\t1\n2\t1\n",
		"x\ta=1\na<>1\n": "x\t1\n2\t1\n",
		"\ufeffa=1\r\n\"b c\" = 'it''s' OR d < '2020-01-02'\n":                "1\t1\n2\t2\n",
		`{"id": "x\ty\n", "text": "a = 1"}`:                                   terminal.Field("x\ty\n") + "\t1\n",
		`{"id": "x", "text": "\"b c\" IS NULL"}` + "\n{\"text\": \"a >= 1\"}": "x\t1\n2\t2\n",
		many + "\n" + "NOT " + many:                                           "1\t1\n2\t1\n",
		"":                                                                    "",
		strings.Repeat("a=1 OR\ta=2\n", 700):                                  strings.Repeat("a=1 OR\t1\n", 700),
	} {
		if r := heddleWith(t, file, backendEnv(), "bitmap", "query", "t.hdb", "--predicates", "-"); r.code != 0 || r.stdout != want {
			t.Errorf("%.60q: exit code %d, %.60q, want %.60q; %.200s", file, r.code, r.stdout, want, r.stderr)
		}
	}
}

// TestBitmapRoaring checks that Roaring reads the file, and that the file appears when it
// is complete.
func TestBitmapRoaring(t *testing.T) {
	trips := buildTrips(t)
	before := files(t)
	for i, q := range tripWheres {
		if got := must(t, "bitmap", "query", "trips.hdb", "--where", q.where, "--roaring", "r"); got != "" {
			t.Errorf("%q prints %q", q.where, got)
		}
		data, err := os.ReadFile("r")
		if err != nil {
			t.Fatal(err)
		}
		if got := must(t, "bitmap", "query", "trips.hdb", "--where", q.where, "--roaring", "-"); got != string(data) {
			t.Errorf("%q: %d bytes on standard output, %d in the file", q.where, len(got), len(data))
		}
		b := roaring.New()
		if _, err := b.FromBuffer(data); err != nil {
			t.Fatal(err)
		}
		if want := wantRows(trips, i); !slices.Equal(b.ToArray(), append([]uint32{}, want...)) {
			t.Errorf("%q: %d rows, want %d", q.where, b.GetCardinality(), len(want))
		}
		if got := must(t, "bitmap", "query", "trips.hdb", "--where", q.where, "--roaring", "r", "--json"); !strings.HasSuffix(got, fmt.Sprintf(`"count":%d}`+"\n", b.GetCardinality())) {
			t.Errorf("with JSON: %s", got)
		}
	}
	for path, message := range map[string]string{"none/r": "no such file", ".": "not a regular file", "trips.hdb": "trips.hdb is both an input and the output"} {
		wantFailure(t, heddle(t, "bitmap", "query", "trips.hdb", "--where", "TRUE", "--roaring", path), exitFailure, message)
	}
	if f := files(t); f != "r "+before {
		t.Errorf("left behind: %s", f)
	}
}

// TestBitmapInRows selects among the rows of a Roaring bitmap, for counts, rows and values.
func TestBitmapInRows(t *testing.T) {
	trips := buildTrips(t)
	must(t, "bitmap", "query", "trips.hdb", "--where", tripWheres[0].where, "--roaring", "r")
	in := wantRows(trips, 0)
	for i, q := range tripWheres {
		var want strings.Builder
		n := 0
		for _, row := range wantRows(trips, i) {
			if slices.Contains(in, row) {
				fmt.Fprintf(&want, "1\t%d\n", row)
				n++
			}
		}
		if got := must(t, "bitmap", "query", "trips.hdb", "--where", q.where, "--in-rows", "r", "--rows"); got != want.String() {
			t.Errorf("%q: rows\n%s, want\n%s", q.where, got, want.String())
		}
		if got := must(t, "bitmap", "query", "trips.hdb", "--where", q.where, "--in-rows", "r"); got != fmt.Sprintf("1\t%d\n", n) {
			t.Errorf("%q: count %s, want %d", q.where, got, n)
		}
		if got := must(t, "bitmap", "query", "trips.hdb", "--where", q.where, "--in-rows", "r", "--select", "count(*)"); !strings.HasSuffix(got, fmt.Sprintf("\n%d\n", n)) {
			t.Errorf("%q: values %s, want %d", q.where, got, n)
		}
	}
	writeFile(t, "broken", "\x01\x02")
	wantFailure(t, heddle(t, "bitmap", "query", "trips.hdb", "--where", "TRUE", "--in-rows", "none"), exitFailure, "no such file")
	wantFailure(t, heddle(t, "bitmap", "query", "trips.hdb", "--where", "TRUE", "--in-rows", "broken"), exitCorrupt, "broken: not a Roaring bitmap in the portable format")
}

func TestExplainBitmap(t *testing.T) {
	useBackend(t)
	trips := buildTrips(t)
	where := "delay >= 60 AND carrier IN ('AA', 'DL') AND distance < 1000.25"
	count := 0
	for _, x := range trips {
		if x.Delay != nil && *x.Delay >= 60 && x.Carrier <= "DL" && x.Distance < 1000.25 {
			count++
		}
	}
	r := heddle(t, "bitmap", "query", "trips.hdb", "--where", where, "--explain")
	for _, part := range []string{"1: " + where + "\n", "  delay: 60 to ", " of 16 bins", "  carrier: 'AA' to 'DL': 2 of 3 bins, checked (", " checked (", "  reads ", "  ran on ", fmt.Sprintf("  %d rows in ", count)} {
		if r.code != 0 || r.stdout != fmt.Sprintf("1\t%d\n", count) || !strings.Contains(r.stderr, part) {
			t.Errorf("exit code %d, %q, no %q in\n%s", r.code, r.stdout, part, r.stderr)
		}
	}
	var got struct {
		Count   int
		Explain rows.Explanation
	}
	if err := json.Unmarshal([]byte(must(t, "bitmap", "query", "trips.hdb", "--where", where, "--explain", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	host, err := engine.New(t.Context(), engine.Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	x, err := host.OpenTable(t.Context(), "trips.hdb", engine.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var want engine.TableExplanation
	if _, err := x.Select(t.Context(), engine.Selection{Where: where, Explain: &want}); err != nil {
		t.Fatal(err)
	}
	e := got.Explain
	if got.Count != count || e.Where != want.Where || e.Vectors != want.Plan.Vectors || e.Bytes != want.Bytes || len(e.Columns) != len(want.Plan.Tests) ||
		e.Backend == "" || e.Device == "" || e.How == "" || e.Micros <= 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
	for i, c := range e.Columns {
		if w := want.Plan.Tests[i]; c.Column != w.Column || c.Bins != w.Bins || c.Whole != w.Whole || c.Checked != w.Checked || c.Candidates != w.Candidates || !slices.Equal(c.Values, w.Ranges) {
			t.Errorf("%+v, want %+v", c, w)
		}
	}
}

// TestBitmapPredicateErrors checks that an invalid predicate is a usage error on the
// command line and corrupt input in a file, with its position.
func TestBitmapPredicateErrors(t *testing.T) {
	buildTrips(t)
	for where, want := range map[string]string{
		"":                                "column 1: a column, a value, NOT or ( is expected here\n  \n  ^\n",
		"delay >= 60 AND (night":          "\n  delay >= 60 AND (night\n",
		"delay >== 60":                    "column 7: >== is no comparison",
		"500 <= distance < 1000":          "column 17: comparisons do not go on",
		"night AND dely > 1":              "column 11: unknown column \"dely\" (nearest: \"delay\")\n  night AND dely > 1\n            ^\n",
		"delay > AA":                      "a text goes in 'single quotes'\n  delay > AA\n          ^\n",
		"delay > 'AA'":                    "column 9: column \"delay\" is of type int: it compares with a number\n",
		"carrier = 7":                     "it compares with a text",
		"'é' = carrier AND carrier = 'AA": "\n  'é' = carrier AND carrier = 'AA\n                              ^\n",
	} {
		r := heddle(t, "bitmap", "query", "trips.hdb", "--where", where)
		if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, want) || !strings.HasPrefix(r.stderr, "heddle bitmap query: column ") {
			t.Errorf("%q: %+v, want %q", where, r, want)
		}
		if where == "" {
			continue // an empty line is not a predicate
		}
		// The other lines of a file have their answers.
		r = heddleWith(t, "TRUE\n\nx\t"+where+"\ny\tTRUE\n", backendEnv(), "bitmap", "query", "trips.hdb", "--predicates", "-")
		if r.code != exitFailure || r.stdout != "1\t3000\ny\t3000\n" || !strings.Contains(r.stderr, want) || !strings.HasPrefix(r.stderr, "-:3: column ") {
			t.Errorf("%q in a file: %+v, want %q", where, r, want)
		}
	}
	r := heddle(t, "bitmap", "query", "none.hdb", "--where", "(a")
	if r.code != exitUsage {
		t.Errorf("syntax is not checked before the file: %+v", r)
	}
	for _, args := range []string{"none.hdb --where a", "trips.hdb --predicates none.hdb", "none.hdb --predicates -"} {
		wantFailure(t, heddle(t, append([]string{"bitmap", "query"}, strings.Fields(args)...)...), exitFailure, "none.hdb: no such file")
	}
	wantFailure(t, heddleWith(t, "", nil, "bitmap", "query", "trips.hdb", "--where", "night", "--backend", "host", "--strategy", "coa"), exitUsage, "backend host has no strategy coa, only [fused iterative reduction] (choose another --backend or --strategy)")
	wantFailure(t, heddleWith(t, "", nil, "bitmap", "query", "trips.hdb", "--where", "night", "--device", "no-such-device"), exitDevice, "no-such-device")
}
