package server

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// TestRowSets restricts counts, selections and aggregates to rows and values.
func TestRowSets(t *testing.T) {
	r := run(t, Options{})
	spec := describeRoutes(t)
	var bitmap bytes.Buffer
	if _, err := roaring.BitmapOf(0, 2).WriteTo(&bitmap); err != nil {
		t.Fatal(err)
	}
	packed := base64.StdEncoding.EncodeToString(bitmap.Bytes())
	for _, c := range []struct{ path, body, want string }{
		{"count", `{"where":"days > 0","in":{"rows":{"numbers":[2,0]}}}`, `^\{"count":2,`},
		{"count", `{"in":{"rows":{"numbers":[]}}}`, `^\{"count":0,`},
		{"count", `{"in":{"roaring":"` + packed + `"}}`, `^\{"count":2,`},
		{"count", `{"in":{"roaring":"` + packed + `","rows":{"numbers":[1,2]}}}`, `^\{"count":1,`},
		{"count", `{"in":{"values":[{"column":"book","values":["a","it's"]}]}}`, `^\{"count":2,`},
		{"count", `{"where":"days > 7 -- late","in":{"values":[{"column":"book","values":["a"]},{"column":"days","values":["31","1e1"]}]}}`, `^\{"count":1,`},
		{"count", `{"in":{"values":[{"column":"book","values":[]}]}}`, `^\{"count":0,`},
		{"select", `{"in":{"roaring":"` + packed + `"}}`, `"rows":\[0,2\]`},
		{"aggregate", `{"select":"count(*)","in":{"rows":{"numbers":[1]}}}`, `"values":\["1"\]`},
	} {
		got := r.do("POST", "/v1/tables/loans/"+c.path, c.body, "Content-Type: application/json")
		if got.status != http.StatusOK || !regexp.MustCompile(c.want).MatchString(got.body) {
			t.Errorf("%s %s: %d %s", c.path, c.body, got.status, got.body)
		}
		spec("POST", "/v1/tables/loans/"+c.path, c.body, got)
	}
	for body, want := range map[string]string{
		`{"in":{}}`:                       "it has no part",
		`{"in":{"rows":{"numbers":[3]}}}`: "row 3",
		`{"in":{"roaring":"AAAA"}}`:       "not a Roaring bitmap",
		`{"in":{"values":[{"column":"nobody","values":["1"]}]}}`:                                 "no column",
		`{"in":{"values":[{"column":"days","values":["1","1) OR (TRUE"]}]}}`:                     "values[1]",
		`{"where":"days >","in":{"values":[{"column":"days","values":["1"]}]}}`:                  `"offset":6`,
		`{"where":"days > 1) OR (TRUE","in":{"values":[{"column":"days","values":["1"]}]}}`:      `"code":"invalid_query"`,
		`{"where":"days > 1 AND nobody = 1","in":{"values":[{"column":"days","values":["1"]}]}}`: `"offset":13`,
	} {
		if got := r.do("POST", "/v1/tables/loans/count", body, "Content-Type: application/json"); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s, want %s", body, got.status, got.body, want)
		}
	}
}
