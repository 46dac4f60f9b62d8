package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/plan/testneeds"
)

// trip is a row of the test table. A nil delay is a missing value.
type trip struct {
	Delay    *int64  `parquet:"delay,optional"`
	Distance float64 `parquet:"distance"`
	Carrier  string  `parquet:"carrier"`
	Night    bool    `parquet:"night"`
}

func makeTrips(n int) []trip {
	r := rand.New(rand.NewPCG(3, 4))
	trips := make([]trip, n)
	for i := range trips {
		delay := int64(r.ExpFloat64()*40) - 20
		trips[i] = trip{&delay, float64(r.IntN(4000)) / 2, []string{"AA", "DL", "WN, of old"}[i/97%3], r.IntN(9) == 0}
		if r.IntN(12) == 0 {
			trips[i].Delay = nil
		}
	}
	return trips
}

// tripsText writes trips as CSV; null marks an unknown delay.
func tripsText(trips []trip, comma, null string) string {
	var b strings.Builder
	for _, x := range trips {
		delay := null
		if x.Delay != nil {
			delay = fmt.Sprint(*x.Delay)
		}
		fmt.Fprintf(&b, "%s%s%v%s\"%s\"%s%t\n", delay, comma, x.Distance, comma, x.Carrier, comma, x.Night)
	}
	return b.String()
}

const tripsHeader = "delay,distance,carrier,night\n"

// tripWheres lists predicates with the rows that they select.
var tripWheres = []struct {
	where string
	holds func(trip) bool
}{
	{"delay >= 60", func(x trip) bool { return x.Delay != nil && *x.Delay >= 60 }},
	{"delay BETWEEN 3 AND 4 OR distance = 12.5", func(x trip) bool { return x.Delay != nil && (*x.Delay == 3 || *x.Delay == 4) || x.Distance == 12.5 }},
	{"NOT (delay > 7 AND night)", func(x trip) bool { return x.Delay != nil && *x.Delay <= 7 || !x.Night }},
	{"delay IS NULL AND carrier IN ('AA', 'ZZ')", func(x trip) bool { return x.Delay == nil && x.Carrier == "AA" }},
	{"carrier > 'DL' and 500 <= distance and distance < 1000", func(x trip) bool { return x.Carrier > "DL" && 500 <= x.Distance && x.Distance < 1000 }},
	{"distance < 0", func(trip) bool { return false }},
	{"TRUE", func(trip) bool { return true }},
}

// wantRows returns the rows that tripWheres[i] selects.
func wantRows(trips []trip, i int) (rows []uint32) {
	for row, x := range trips {
		if tripWheres[i].holds(x) {
			rows = append(rows, uint32(row))
		}
	}
	return rows
}

// buildTrips builds trips.hdb in a new working directory.
func buildTrips(t *testing.T, flags ...string) []trip {
	t.Helper()
	inTempDir(t)
	trips := makeTrips(3000)
	writeFile(t, "trips.csv", tripsHeader+tripsText(trips, ",", ""))
	must(t, append([]string{"bitmap", "build", "-o", "trips.hdb", "--bins", "16",
		"--set", "delay:bins=16,binning=quantile", "--set", "distance:bins=16,binning=quantile", "trips.csv"}, flags...)...)
	return trips
}

func zipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBitmapInputs builds the same table from every input format, with the same columns
// and answers.
func TestBitmapInputs(t *testing.T) {
	needsAll(t)
	testneeds.Sequential(t)
	inTempDir(t)
	trips := makeTrips(700)
	text := tripsText(trips, ",", "")
	lines := strings.SplitAfter(text, "\n")
	writeFile(t, "t.csv", tripsHeader+text)
	writeFile(t, "t.gz", zipped(t, tripsHeader+text))
	writeFile(t, "1.csv", tripsHeader+strings.Join(lines[:300], ""))
	writeFile(t, "2.csv", tripsHeader+strings.Join(lines[300:], ""))
	writeFile(t, "bare.csv", text)
	writeFile(t, "t.tsv", strings.ReplaceAll(tripsHeader, ",", "\t")+tripsText(trips, "\t", "-"))
	writeFile(t, "more.csv", "note,"+tripsHeader+"x,"+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\ny,")+"\n")
	var b bytes.Buffer
	if err := parquet.Write(&b, trips); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "t.parquet", b.String())
	writeFile(t, "p.data", b.String())

	want := ""
	for _, args := range []string{
		"t.csv", "t.gz", "-", "1.csv 2.csv", "--names delay,distance,carrier,night bare.csv", "--delimiter tab --null - t.tsv",
		"--columns delay,distance,carrier,night more.csv", "t.parquet", "p.data", "--format parquet p.data", "--format csv t.csv",
	} {
		r := heddleWith(t, tripsHeader+text, backendEnv(), append(strings.Fields("bitmap build -o x.hdb --bins 16"), strings.Fields(args)...)...)
		if r.code != 0 || r.stderr != "" || !strings.HasPrefix(r.stdout, "x.hdb: 700 rows, 4 columns, ") {
			t.Fatalf("%s: %+v", args, r)
		}
		var info report.Table
		if err := json.Unmarshal([]byte(must(t, "bitmap", "info", "x.hdb", "--json")), &info); err != nil {
			t.Fatal(err)
		}
		columns, err := json.Marshal(info.Columns)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(info.Rows, info.Word, string(columns))
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", args, got, want)
		}
		for i, q := range tripWheres {
			if got, want := must(t, "bitmap", "query", "x.hdb", "--where", q.where), fmt.Sprintf("1\t%d\n", len(wantRows(trips, i))); got != want {
				t.Errorf("%s: %q gives %q, want %q", args, q.where, got, want)
			}
		}
		must(t, "bitmap", "verify", "x.hdb")
	}
}

// TestBitmapRaw builds a table from raw columns, one of them from standard input.
func TestBitmapRaw(t *testing.T) {
	inTempDir(t)
	writeFile(t, "a", string(binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0, 2, 0, 0, 0}, 1<<31)))
	writeFile(t, "b.gz", zipped(t, "\xff\x80\x07"))
	args := strings.Fields("bitmap build --json -o r.hdb --raw a:u32:a --raw b:i8:b.gz:-128 --raw c:i16:-")
	r := heddleWith(t, "\x00\x00\x01\x00\xff\xff", nil, args...)
	var s report.TableBuild
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil || r.code != 0 || s.Rows != 3 || len(s.Columns) != 3 || s.Columns[1].Missing != 1 {
		t.Fatalf("%v %+v", err, r)
	}
	for where, want := range map[string]string{"a = 2147483648": "1\t2\n", "b IS NULL": "1\t1\n", "b < 0": "1\t0\n", "c = -1 OR c = 1": "1\t1\n1\t2\n"} {
		if got := must(t, "bitmap", "query", "r.hdb", "--where", where, "--rows"); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
}

// TestBitmapSettings checks that info shows the settings of flags and configuration.
func TestBitmapSettings(t *testing.T) {
	inTempDir(t)
	trips := makeTrips(700)
	writeFile(t, "t.csv", strings.Replace(tripsHeader, "night", `"at:night"`, 1)+tripsText(trips, ",", "none"))
	writeFile(t, "c.toml", "[bitmap]\nbins = 9\n")
	built := must(t, "bitmap", "build", "-o", "t.hdb", "--config", "c.toml", "--encoding", "interval", "--word", "64", "--null", "none",
		"--set", "delay:bins=3,binning=lloyd,encoding=range", "--set", "at:night:encoding=equality", "--type", "at:night=string", "--json", "t.csv")
	var summary report.TableBuild
	if err := json.Unmarshal([]byte(built), &summary); err != nil {
		t.Fatal(err)
	}
	var info report.Table
	if err := json.Unmarshal([]byte(must(t, "bitmap", "info", "t.hdb", "--json")), &info); err != nil {
		t.Fatal(err)
	}
	missing := uint32(len(wantRows(trips, 3)))
	for _, x := range trips {
		if x.Delay == nil && x.Carrier != "AA" {
			missing++
		}
	}
	if info.Rows != 700 || info.Word != 64 || info.Source != "t.csv" || info.Creator != thisBuild().String() || info.Bytes != summary.Bytes {
		t.Errorf("%+v", info)
	}
	for i, want := range []report.Column{
		{Name: "delay", Type: "int", Binning: "lloyd", Encoding: "range", Bins: 3, Missing: missing},
		{Name: "distance", Type: "float", Binning: "quantile", Encoding: "interval", Bins: 9},
		{Name: "carrier", Type: "string", Binning: "distinct", Encoding: "interval", Bins: 3},
		{Name: "at:night", Type: "string", Binning: "distinct", Encoding: "equality", Bins: 2},
	} {
		got, built := info.Columns[i], summary.Columns[i]
		if got.Name != want.Name || got.Type != want.Type || got.Binning != want.Binning || got.Encoding != want.Encoding || got.Bins != want.Bins || got.Missing != want.Missing {
			t.Errorf("column %d is %+v, want %+v", i, got, want)
		}
		if built.Name != want.Name || built.Type != want.Type || built.Binning != want.Binning || built.Encoding != want.Encoding || built.Bins != want.Bins ||
			built.Missing != want.Missing || built.Vectors != got.Vectors || int64(built.VectorBytes) != got.VectorBytes || int64(built.ValueBytes) != got.ValueBytes {
			t.Errorf("build says of column %d: %+v, want %+v", i, built, want)
		}
	}
	if got := must(t, "bitmap", "query", "t.hdb", "--where", `"at:night" = 'true' AND delay IS NOT NULL`); got == "1\t0\n" {
		t.Error("no row is at night")
	}
}

// TestBitmapInfo checks the text output and the bins of a column.
func TestBitmapInfo(t *testing.T) {
	inTempDir(t)
	writeFile(t, "t.csv", "a,b\n3,\"\"\n1,\n1,\"y\tz\"\n")
	must(t, "bitmap", "build", "-o", "t.hdb", "--null", "NA", "t.csv")
	got := must(t, "bitmap", "info", "t.hdb")
	for _, want := range []string{
		"table     t.hdb\n", "source    t.csv\n", "rows      3\n", "words     32 bits\n",
		"a       int     1      3         0        distinct  equality  2     2 ",
		`b       string  ""     "y\tz"    1        distinct  equality  2     3 `, "few rows\n", "vector-table",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("info lacks %q:\n%s", want, got)
		}
	}
	want := "a: int, 2 bins, binning distinct, encoding equality, 0 rows without a value\n\nbin  least  greatest  rows\n0    1      1         2\n1    3      3         1\n"
	if got := must(t, "bitmap", "info", "t.hdb", "--column", "a"); got != want {
		t.Errorf("column a is\n%s\nwant\n%s", got, want)
	}
	var info report.Table
	if err := json.Unmarshal([]byte(must(t, "bitmap", "info", "t.hdb", "--column", "b", "--json")), &info); err != nil ||
		!slices.Equal(info.Columns[0].List, []report.Bin{{Least: "", Greatest: "", Rows: 1}, {Least: "y\tz", Greatest: "y\tz", Rows: 1}}) || *info.Columns[0].Least != "" || *info.Columns[0].Greatest != "y\tz" {
		t.Errorf("%v %+v", err, info)
	}
	wantFailure(t, heddle(t, "bitmap", "info", "t.hdb", "--column", "c"), exitUsage, `t.hdb: there is no column "c"; there are a, b`+"\n")
	if got := must(t, "bitmap", "info", "t.hdb", "--column", "b"); !strings.HasSuffix(got, "\n0    \"\"      \"\"        1\n1    \"y\\tz\"  \"y\\tz\"    1\n") {
		t.Errorf("column b is\n%s", got)
	}
	for _, text := range []string{"a,b\n", "a,b"} { // a table without rows
		writeFile(t, "t.csv", text)
		must(t, "bitmap", "build", "-o", "t.hdb", "t.csv")
		must(t, "bitmap", "info", "t.hdb")
		if got := must(t, "bitmap", "query", "t.hdb", "--where", "a = 'x' OR b IS NULL OR TRUE", "--rows", "--json"); !strings.Contains(got, `"count":0,"rows":[]`) {
			t.Errorf("no rows: %s", got)
		}
	}
}

// TestBitmapDamaged checks that every command reports the position of damage in a file.
func TestBitmapDamaged(t *testing.T) {
	buildTrips(t)
	if got := must(t, "bitmap", "verify", "trips.hdb"); !strings.HasPrefix(got, "trips.hdb is valid: 3000 rows, 4 columns, ") {
		t.Errorf("verify prints %q", got)
	}
	whole, err := os.ReadFile("trips.hdb")
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[4096] ^= 4
	for name, data := range map[string][]byte{"flipped": flipped, "cut": whole[:len(whole)-4096], "short": whole[:50], "empty": nil, "other": []byte(tripsHeader)} {
		writeFile(t, "x.hdb", string(data))
		for _, args := range []string{"verify x.hdb", "info x.hdb", "query x.hdb --where carrier='AA'"} {
			if name == "flipped" && args == "info x.hdb" { // reads no vector
				must(t, "bitmap", "info", "x.hdb")
				continue
			}
			t.Run(name+" "+args, func(t *testing.T) {
				wantFailure(t, heddle(t, append([]string{"bitmap"}, strings.Fields(args)...)...), exitCorrupt, "x.hdb: ", "at byte ")
			})
		}
	}
}
