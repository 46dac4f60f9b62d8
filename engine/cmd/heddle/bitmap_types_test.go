package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"heddle/engine/plan/testneeds"
)

// TestBitmapTypes compares literals with values of all types exactly.
func TestBitmapTypes(t *testing.T) {
	needsAll(t)
	testneeds.Sequential(t)
	types, err := filepath.Abs("../../table/read/parquet/testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	inTempDir(t)
	for _, binning := range []string{"distinct", "width", "quantile", "lloyd"} {
		must(t, "bitmap", "build", "-o", binning+".hdb", "--binning", binning, "--bins", "2", types)
		must(t, "bitmap", "verify", binning+".hdb")
	}
	for where, want := range map[string]int{
		"d18 = 900719925474.000005":                       1,
		"d18 < 900719925474.000006":                       2,
		"d18 = 900719925474.0000055":                      0,
		"d18 > 900719925474.0000055":                      1,
		"d19 = 9007199254740993":                          1,
		"d38 = 12345678901234567890123456.7890123456":     1,
		"d38 >= 12345678901234567890123456.78901234565":   1,
		"d38 IN (-12345678901234567890123456.7890123456)": 1,
		"d9 = 0.07":                                       1,
		"d9 BETWEEN -1234567.89 AND 7e-2":                 2,
		"u64 = 18446744073709551615":                      1,
		"u64 >= 9223372036854775808":                      2,
		"f32 = 26.352673":                                 1,
		"f32 = 'nan'":                                     1,
		"f32 > 1":                                         2,
		"f64 = 'nan' OR f64 = 'inf'":                      2,
		"f64 > 'infinity'":                                1,
		"day < '5000000-01-01'":                           2,
		"day = 'infinity'":                                1,
		"day < '2010-01-01'":                              1,
		"moment = '2010-01-02 03:04:05.678901'":           1,
		"id = '00112233-4455-6677-8899-aabbccddeeff'":     1,
		"clock = 3723000000":                              1,
		"DAY = DATE '2010-01-02' -- in any case":          1,
		"moment > TIMESTAMP '2010-01-02 03:04:05.678901'": 1,
		"moment < DATE '12000-01-01'":                     2,
		"id LIKE '00112233%'":                             1,
		"id NOT LIKE '%-7766-_54433221100'":               1,
		"(f64 > 1) IS TRUE":                               2,
		"(f64 > 1) IS NOT TRUE":                           2,
		"d18 < u64":                                       3,
		"d19 = d18":                                       0,
		"d18 IS NULL":                                     1,
	} {
		for _, binning := range []string{"distinct", "width", "quantile", "lloyd"} {
			if got := must(t, "bitmap", "query", binning+".hdb", "--where", where, "--backend", "host", "--device", ""); got != fmt.Sprintf("1\t%d\n", want) {
				t.Errorf("%s, %s: %q, want %d rows", binning, where, got, want)
			}
		}
	}
	r := heddleWith(t, "d,e\n1.25,7\n-12345678901234567890.5,8\n", nil, "bitmap", "build", "-o", "c.hdb", "--type", "d=decimal(30,2)", "--type", "e=decimal(9,2)", "-")
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	if got := must(t, "bitmap", "query", "c.hdb", "--where", "d = -12345678901234567890.50 AND e = 8", "--backend", "host", "--device", ""); got != "1\t1\n" {
		t.Errorf("decimals of CSV: %q", got)
	}
	wantFailure(t, heddle(t, "bitmap", "build", "-o", "c.hdb", "--type", "d=decimal(40,2)", "-"), exitUsage, `"decimal(40,2)" is not decimal(P,S) with 1 to 38 digits`)
}
