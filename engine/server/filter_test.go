package server

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/api"
)

// TestFilters restricts searches to documents by the attributes in a table, by ids and by a bitmap.
func TestFilters(t *testing.T) {
	r := run(t, Options{})
	spec := describeRoutes(t)
	var bitmap bytes.Buffer
	if _, err := roaring.BitmapOf(1, 2).WriteTo(&bitmap); err != nil {
		t.Fatal(err)
	}
	packed := base64.StdEncoding.EncodeToString(bitmap.Bytes())
	for _, c := range []struct{ path, body, want string }{
		{"search", `{"query":"loom","filter":{"where":"days > 30","table":"loans"}}`, `^\{"hits":\[\{"doc":"a","id":0,"score":0\.\d+\}\],"took_ms"`},
		{"search", `{"query":"loom","filter":{"where":"days > 30","table":"loans"},"explain":true}`, `filter days .{1,6} 30: 2 of 3 documents pass`},
		{"search", `{"query":"loom red","k":1,"total":true,"facets":{"table":"loans","columns":["book","days"],"limit":1}}`, `"facets":\{"matches":3,"columns":\[\{"column":"book","values":\[\{"value":"a","missing":false,"count":2\}\],"distinct":2\},\{"column":"days","values":\[\{"value":"7","missing":false,"count":1\}\],"distinct":3\}\]\}`},
		{"search", `{"query":"loom red","k":0,"facets":{"table":"loans","columns":["book"],"limit":0}}`, `"facets":\{"matches":3,"columns":\[\{"column":"book","values":\[\],"distinct":2\}\]\},"total":\{"value":3,"exact":true\}\}`},
		{"search", `{"query":"loom red","k":1,"facets":{"table":"loans","columns":["bins(days, 7, 30)","bins(book)"]}}`, `"facets":\{"matches":3,"columns":\[\{"column":"bins\(days, 7, 30\)","values":\[\{"value":"(<|\\u003c) 7","missing":false,"count":0\},\{"value":"\[7, 30\)","missing":false,"count":1\},\{"value":"(>|\\u003e)= 30","missing":false,"count":2\}\],"distinct":2\},\{"column":"bins\(book\)"`},
		{"search", `{"filter":{"where":"days > 30","table":"loans"}}`, `^\{"hits":\[\{"doc":"a","id":0,"score":0\},\{"doc":"c","id":2,"score":0\}\],"took_ms"`},
		{"search", `{"query":"NOT red","filter":{"where":"TRUE","table":"loans"}}`, `^\{"hits":\[\{"doc":"b","id":1,"score":0\}\],"took_ms"`},
		{"search", `{"query":"loom","k":0,"facets":{"table":"loans","columns":["book"]}}`, `^\{"hits":\[\],"took_ms".*"facets":\{"matches":2,.*"total":\{"value":2,"exact":true\}`},
		{"search", `{"query":"loom nothing","k":0,"mode":"and-or","weights":[]}`, `^\{"hits":\[\],.*"total":\{"value":0,"exact":true\}`},
		{"search", `{"query":"loom OR nothing","k":0,"mode":"and-or"}`, `^\{"hits":\[\],.*"total":\{"value":2,"exact":true\}`},
		{"search", `{"query":"loom","k":1,"total":true}`, `^\{"hits":\[\{"doc":"a","id":0,"score":0\.\d+\}\],.*"total":\{"value":2,"exact":true\}\}`},
		{"search", `{"query":"loom","k":1,"total":1}`, `"total":\{"value":1,"exact":false\}\}`},
		{"search", `{"query":"red loom","mode":"and-or","k":1,"total":5}`, `"total":\{"value":1,"exact":true\}\}`},
		{"search", `{"query":"red loom","mode":"and-or","total":5}`, `"total":\{"value":3,"exact":true\}\}`},
		{"search", `{"query":"loom","k":1,"total":false}`, `"queued_ms":[0-9.e-]+\}`},
		{"search", `{"query":" "}`, `^\{"hits":\[\],.*"note":"the query is empty"`},
		{"search", `{}`, `"note":"the query is empty"`},
		{"search", `{"query":"lomo red threed absent","k":1,"suggest":true}`, `"suggestions":\{"words":\[\{"word":"lomo","terms":\[\{"term":"loom","documents":2\}\]\},\{"word":"threed","terms":\[\{"term":"thread","documents":1\}\]\}\]\}\}\n`},
		{"match", `{"query":"","count":true}`, `"note":"the query is empty"`},
		{"search", `{"terms":["absent"]}`, `"queued_ms":[0-9.e-]+\}`},
		{"search", `{"query":"?! --"}`, `^\{"hits":\[\],.*"note":"no word is left; without a letter or digit: \?! --"`},
		{"match", `{"query":"?!","count":true}`, `^\{"count":0,.*"note":"no word is left; without a letter or digit: \?!"`},
		{"search", `{"query":"loom - red","k":1}`, `"note":"the - at byte 6 of the query is no operator there, and so text"`},
		{"match", `{"query":"*"}`, `^\{"count":3,"documents":\[\{"doc":"a","id":0\},`},
		{"match", `{"query":"NOT red"}`, `^\{"count":1,"documents":\[\{"doc":"b","id":1\}\]`},
		{"match", `{"query":"loom","limit":0}`, `^\{"count":2,"documents":\[\],`},
		{"match", `{"filter":{"docs":{"ids":[1]}}}`, `^\{"count":1,"documents":\[\{"doc":"b"`},
		{"match", `{"query":"*","literal":true}`, `^\{"count":0,`},
		{"match", `{"query":"loom red","filter":{"docs":{"ids":[2,1]}}}`, `^\{"count":2,"documents":\[\{"doc":"b","id":1\},\{"doc":"c","id":2\}\]`},
		{"match", `{"query":"loom","count":true,"filter":{"docs":{"ids":[]}}}`, `^\{"count":0,`},
		{"match", `{"query":"red","count":true,"filter":{"roaring":"` + packed + `"}}`, `^\{"count":1,`},
		{"match", `{"query":"red","count":true,"filter":{"roaring":"` + packed + `","and":[{"docs":{"ids":[0,1]}}]}}`, `^\{"count":0,`},
	} {
		got := r.do("POST", "/v1/indexes/looms/"+c.path, c.body, "Content-Type: application/json")
		if got.status != http.StatusOK || !regexp.MustCompile(c.want).MatchString(got.body) {
			t.Errorf("%s: %d %s", c.body, got.status, got.body)
		}
		spec("POST", "/v1/indexes/looms/"+c.path, c.body, got)
	}
	for prefix, want := range map[string]string{"t&limit=1": `{"terms":[{"term":"the","documents":2}]}`, "TH": `{"terms":[{"term":"the","documents":2},{"term":"thread","documents":1}]}`, "zz": `{"terms":[]}`} {
		got := r.do("GET", "/v1/indexes/looms/suggest?prefix="+prefix, "")
		if got.status != http.StatusOK || got.body != want+"\n" {
			t.Errorf("%s: %d %s", prefix, got.status, got.body)
		}
		spec("GET", "/v1/indexes/looms/suggest", "", got)
	}
	got := r.do("POST", api.IndexServiceSearchBatchProcedure, `{"index":"looms","queries":["loom nothing","loom OR nothing"],"k":0,"mode":"and-or"}`, "Content-Type: application/json")
	if got.status != http.StatusOK || !regexp.MustCompile(`"totals": ?\[\{"exact": ?true\}, ?\{"value": ?"2"`).MatchString(got.body) {
		t.Errorf("totals of a batch under and-or: %d %s", got.status, got.body)
	}
	lines := `{"id":1,"query":"loom","filter":{"docs":{"ids":[1]}}}
{"id":2,"query":"loom"}
{"id":3,"query":"loom","filter":{"docs":{"ids":[7]}}}
{"id":4,"query":"red","count":true,"filter":{"where":"book = 'b'","table":"loans"}}
{"id":5,"query":"loom","k":0}
{"id":6,"query":"*","match":true}
{"id":7,"filter":{"docs":{"ids":[2]}}}
{"id":8,"query":"-red"}
{"id":9,"query":"?!"}
{"id":10,"query":"loom )","k":0}
{"id":11,"query":""}
`
	got = r.do("POST", "/v1/indexes/looms/search/batch", lines, "Content-Type: application/x-ndjson")
	for i, want := range []string{`"hits":\[\{"doc":"b","id":1,"score":0\.\d+\}\]\}$`, `"hits":\[\{"doc":"a",.*\}\]\}$`, `"code":"invalid_query"`, `"count":0`, `"hits":\[\],"total":\{"value":2,"exact":true\}\}$`, `"count":3,"hits":\[\{"doc":"a","id":0\},`, `"hits":\[\{"doc":"c","id":2,"score":0\}\]`, `"hits":\[\{"doc":"b"`,
		`"hits":\[\],"note":"no word is left; without a letter or digit: \?!"`, `"total":\{"value":2,"exact":true\},"note":"the \) at byte 6 of the query is no operator there, and so text"\}$`, `"note":"the query is empty"\}$`} {
		if line := strings.Split(got.body, "\n")[i]; !regexp.MustCompile(fmt.Sprintf(`^\{"id":%d,.*%s`, i+1, want)).MatchString(line) {
			t.Errorf("line %d: %s", i, line)
		}
	}
	for body, want := range map[string]string{
		`{"query":"loom","total":-1}`:                                      "total: want true, false or a whole number from 0 to 2^53",
		`{"query":"loom","total":1e400}`:                                   "total: want true",
		`{"query":"loom","total":1.5}`:                                     "total: want true",
		`{"query":"loom","total":"all"}`:                                   "total: want true",
		`{"query":"loom","filter":{}}`:                                     "it has no part",
		`{"query":"loom","filter":{"and":[{}]}}`:                           "it has no part",
		`{"query":"loom","filter":{"where":"days >","table":"loans"}}`:     "filter: ",
		`{"query":"loom","filter":{"where":"days > 1"}}`:                   "looms",
		`{"query":"loom","filter":{"table":"loans","docs":{"ids":[1]}}}`:   "table is for where",
		`{"query":"loom","filter":{"docs":{"ids":[4294967296]}}}`:          `docs.ids[0] is 4294967296`,
		`{"query":"loom","filter":{"docs":{"ids":[3]}}}`:                   `row 3, there are 3`,
		`{"query":"loom","filter":{"roaring":"AAAA"}}`:                     "not a Roaring bitmap",
		`{"query":"loom","filter":{"where":"nobody = 1","table":"loans"}}`: "nobody",
	} {
		got := r.do("POST", "/v1/indexes/looms/search", body, "Content-Type: application/json")
		if got.status < 400 || got.status >= 500 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	r.buildTable("days\n1\n")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	got = r.do("POST", "/v1/indexes/looms/search", `{"query":"loom","filter":{"where":"days = 1","table":"loans"}}`, "Content-Type: application/json")
	if got.status != http.StatusBadRequest || !strings.Contains(got.body, "1 rows and the index 3 documents") {
		t.Errorf("a table of another size: %d %s", got.status, got.body)
	}
}
