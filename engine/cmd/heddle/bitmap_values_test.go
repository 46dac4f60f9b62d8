package main

import (
	"strings"
	"testing"
)

const salesCSV = "city,amount,price\nBerlin,10,1.25\nParis,5,\nBerlin,,3.50\n,7,-1.00\n\"O\"\"x, y\",,\n"

// TestBitmapSelect prints values as CSV and JSON, with every flag of --select.
func TestBitmapSelect(t *testing.T) {
	useBackend(t)
	inTempDir(t)
	writeFile(t, "sales.csv", salesCSV)
	must(t, "bitmap", "build", "-o", "sales.hdb", "--type", "price=decimal(9,2)", "sales.csv")
	for flags, want := range map[string]string{
		"--select|city, count(*), sum(amount)|--group-by|city":                     "city,count(*),sum(amount)\nBerlin,2,10\n\"O\"\"x, y\",1,\nParis,1,5\n,1,7\n",
		"--select|sum(price) AS total, avg(price)|--where|city IS NOT NULL|--json": `{"total":4.75,"avg(price)":2.375}` + "\n",
		"--select|city|--order-by|amount DESC NULLS FIRST|--offset|1|--limit|2":    "city\n\"O\"\"x, y\"\nBerlin\n",
		"--select|*|--where|price < 0":                                             "city,amount,price\n,7,-1.00\n",
		"--select|city, price|--where|FALSE":                                       "city,price\n",
		"--select|city|--where|FALSE|--format|json":                                "",
		"--select|count(*), max(city)|--where|FALSE":                               "count(*),max(city)\n0,\n",
		"--select|price, city|--where|price<0|--json":                              `{"price":-1.00,"city":null}` + "\n",
		"--select|city, count(*)|--group-by|city|--limit|1":                        "city,count(*)\nBerlin,2\n",
	} {
		args := append([]string{"bitmap", "query", "sales.hdb"}, strings.Split(flags, "|")...)
		if got := must(t, args...); got != want {
			t.Errorf("%s:\n%s, want\n%s", flags, got, want)
		}
	}
	for format, want := range map[string]string{"csv": "city,n\n", "json": ""} {
		if got := must(t, "bitmap", "query", "sales.hdb", "--select", "city, count(*) AS n", "--group-by", "city", "--limit", "0", "--format", format); got != want {
			t.Errorf("--limit 0 --format %s: %q, want %q", format, got, want)
		}
	}
	r := heddle(t, "bitmap", "query", "sales.hdb", "--select", "city, count(*)", "--group-by", "city", "--explain")
	if r.code != 0 || !strings.Contains(r.stderr, "values in pure Go: groups, reads city;") {
		t.Errorf("--explain: %+v", r)
	}
}

// TestBitmapSelectWrong has errors of the flags of --select, with exit code 2.
func TestBitmapSelectWrong(t *testing.T) {
	useBackend(t)
	inTempDir(t)
	writeFile(t, "sales.csv", salesCSV)
	must(t, "bitmap", "build", "-o", "sales.hdb", "sales.csv")
	for flags, want := range map[string]string{
		"--group-by|city":                         "--group-by is for --select",
		"--where|TRUE|--limit|3":                  "--limit is for --select",
		"--select|city|--count":                   "--select excludes",
		"--select|city|--format|xml":              "flag --format: \"xml\" is not one of ",
		"--select|city|--json|--format|csv":       "--json and --format csv exclude each other",
		"--select|city,":                          "column 6: a column",
		"--select|city|--where|amount >":          "a value is expected here",
		"--select|town":                           `unknown column "town"`,
		"--select|city, count(*)":                 `column "city" is neither in GROUP BY nor in an aggregate`,
		"--select|city|--order-by|city sideways":  "ORDER BY: a comma or the end is expected here",
		"--select|sum(city)|--where|amount > 100": "sum and avg are for numbers",
	} {
		r := heddle(t, append([]string{"bitmap", "query", "sales.hdb"}, strings.Split(flags, "|")...)...)
		if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v, want %q", flags, r, want)
		}
	}
}

// TestBitmapSelectFiles builds a table from the Parquet file of another table: both have the same
// values. An Arrow stream begins and ends as such.
func TestBitmapSelectFiles(t *testing.T) {
	needsAll(t)
	useBackend(t)
	inTempDir(t)
	writeFile(t, "a.csv", "i,f,b,t,d,s\n-5,0.1,true,2001-02-03 04:05:06.5,1.25,a\n,,,,,\n9223372036854775807,nan,false,1969-12-31,-0.50,\"b, \"\"c\"\"\"\n")
	must(t, "bitmap", "build", "-o", "a.hdb", "--type", "d=decimal(9,2)", "a.csv")
	writeFile(t, "b.parquet", must(t, "bitmap", "query", "a.hdb", "--select", "*", "--format", "parquet"))
	must(t, "bitmap", "build", "-o", "b.hdb", "b.parquet")
	want := must(t, "bitmap", "query", "a.hdb", "--select", "*")
	if got := must(t, "bitmap", "query", "b.hdb", "--select", "*"); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	stream := must(t, "bitmap", "query", "a.hdb", "--select", "sum(d)", "--format", "arrow")
	if !strings.HasPrefix(stream, "\xff\xff\xff\xff") || !strings.HasSuffix(stream, "\xff\xff\xff\xff\x00\x00\x00\x00") || !strings.Contains(stream, "sum(d)") {
		t.Errorf("%q", stream)
	}
}
