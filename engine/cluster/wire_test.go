package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	"heddle/engine/api"
	"heddle/engine/internal/layout"
	"heddle/engine/server"
)

// listen serves the routes of claims.
func listen(t *testing.T, c *claims) string {
	t.Helper()
	s, err := server.New(newEngine(t), server.Options{Remote: New(c, c, Options{})})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(s.Handler())
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetHTTP1(true)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	t.Cleanup(web.Close)
	return web.URL
}

// post returns the status, the header of coverage and the body of an answer.
func post(t *testing.T, url, accept, body string) (status int, cover, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Heddle-Coverage"), string(all)
}

// gap is the coverage of three claims of which the second one is gone.
var gap = fmt.Sprintf(`{"epoch":7,"shards":3,"shards_answered":2,"docs":%d,"docs_answered":%d,"missing":[{"shard":1,"error":"call: node 1 is down"}]}`, 3*most, 2*most)

// TestPartialRoutes: with allow_partial, each form of an answer has its coverage; without, a missing
// shard fails it with status 503.
func TestPartialRoutes(t *testing.T) {
	index, table := claimed(layout.Index, 1, 1, 1), claimed(layout.Table, 0, 0, 0)
	index.gone, table.gone = map[int]bool{1: true}, map[int]bool{1: true}
	indexes, tables := listen(t, index), listen(t, table)
	for _, test := range []struct {
		url, accept, body string
		want              string // part of the body
		header            bool   // has the coverage
	}{
		{indexes + "/v1/indexes/x/search", "", `{"query":"a","k":2,"allow_partial":true}`, fmt.Sprintf(`"id":%d`, 3*most-1), false},
		{indexes + "/v1/indexes/x/match", "", `{"query":"a","count":true,"allow_partial":true}`, fmt.Sprintf(`"count":%d`, 2*most), false},
		{indexes + "/v1/indexes/x/search/batch?allow_partial=true", "", `{"query":"a","count":true}`, fmt.Sprintf(`"count":%d`, 2*most), true},
		{tables + "/v1/tables/x/count", "", `{"where":"a = 1","allow_partial":true}`, fmt.Sprintf(`"count":%d`, 2*most), false},
		{tables + "/v1/tables/x/select", "application/json", `{"where":"a = 1","limit":2,"allow_partial":true}`, fmt.Sprintf(`"rows":[%d,%d]`, most-1, 3*most-1), false},
		{tables + "/v1/tables/x/select", "application/x-ndjson", `{"where":"a = 1","limit":2,"allow_partial":true}`, fmt.Sprintf("%d\n%d\n", most-1, 3*most-1), true},
		{tables + "/v1/tables/x/select", "application/octet-stream", `{"where":"a = 1","limit":1,"allow_partial":true}`, "\xfe\xff\xff\xff", true},
	} {
		status, header, text := post(t, test.url, test.accept, test.body)
		cover := header
		if !test.header {
			var answer struct{ Coverage json.RawMessage }
			if err := json.Unmarshal([]byte(text), &answer); err != nil || header != "" {
				t.Errorf("%s: %v, header %q", test.url, err, header)
			}
			cover = string(answer.Coverage)
		}
		if status != http.StatusOK || cover != gap || !strings.Contains(text, test.want) {
			t.Errorf("%s %s: %d, coverage %s, %s; want coverage %s, %s", test.url, test.body, status, cover, text, gap, test.want)
		}
		refused := strings.ReplaceAll(test.body, `,"allow_partial":true`, "")
		if status, _, text := post(t, strings.TrimSuffix(test.url, "?allow_partial=true"), test.accept, refused); status != http.StatusServiceUnavailable || !strings.Contains(text, "shards 1 of 3 do not answer") {
			t.Errorf("%s %s: %d, %s", test.url, refused, status, text)
		}
	}
	if status, _, text := post(t, indexes+"/v1/indexes/x/search/batch?allow_partial=perhaps", "", ""); status != http.StatusBadRequest || !strings.Contains(text, "allow_partial: want true or false") {
		t.Errorf("%d, %s", status, text)
	}
}

// TestLargeRoutes: numbers above 2^32 in each form of an answer. Forms of 32 bits refuse them.
func TestLargeRoutes(t *testing.T) {
	indexes, tables := listen(t, claimed(layout.Index, 1, 1, 1)), listen(t, claimed(layout.Table, 0, 0, 0))
	last := []uint64{3*most - 2, 3*most - 1}
	for _, test := range []struct{ url, accept, body, want string }{
		{indexes + "/v1/indexes/x/search", "", `{"query":"a","k":2}`, fmt.Sprintf(`"doc":"s2-0","id":%d,"score":3},{"doc":"s2-1","id":%d,`, last[0], last[1])},
		{indexes + "/v1/indexes/x/match", "", `{"query":"a","count":true}`, fmt.Sprintf(`"count":%d`, 3*most)},
		{indexes + "/v1/indexes/x/search/batch", "", `{"query":"a","k":2}`, fmt.Sprintf(`"id":%d,"score":3},{"doc":"s2-1","id":%d,`, last[0], last[1])},
		{tables + "/v1/tables/x/count", "", `{"where":"a = 1"}`, fmt.Sprintf(`"count":%d`, 3*most)},
		{tables + "/v1/tables/x/select", "", `{"where":"a = 1","limit":3}`, fmt.Sprintf(`"count":%d,"rows":[%d,%d,%d]`, 3*most, most-1, 2*most-1, 3*most-1)},
		{tables + "/v1/tables/x/select", "application/x-ndjson", `{"where":"a = 1","limit":3}`, fmt.Sprintf("%d\n%d\n%d\n", most-1, 2*most-1, 3*most-1)},
		{tables + "/v1/tables/x/select", "application/octet-stream", `{"where":"a = 1","limit":3}`, "more than 32 bits: accept application/json"},
		{tables + "/v1/tables/x/select", "application/x-roaring", `{"where":"a = 1","limit":3}`, "more than 32 bits: accept application/json"},
		{tables + "/v1/tables/x/select", "application/vnd.apache.arrow.stream", `{"where":"a = 1","limit":3}`, "more than 32 bits: accept application/json"},
	} {
		if _, _, text := post(t, test.url, test.accept, test.body); !strings.Contains(text, test.want) {
			t.Errorf("%s %s: %s; want %s", test.url, test.body, text, test.want)
		}
	}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	h2c := &http.Transport{Protocols: protocols}
	defer h2c.CloseIdleConnections()
	for name, option := range map[string]connecthttp.Option{"Connect": connecthttp.WithReadMaxBytes(1 << 20), "gRPC": connecthttp.WithGRPC()} {
		x := api.NewIndexServiceClient(connect.NewClient(connecthttp.NewTransport(&http.Client{Transport: h2c}, indexes, option)))
		flat, err := x.SearchBatch(t.Context(), &api.SearchBatchRequest{Index: "x", Queries: []string{"a"}, K: new(uint32(2)), AllowPartial: true})
		if err != nil || !slices.Equal(flat.GetIds(), last) || flat.GetCoverage().GetDocsAnswered() != 3*most {
			t.Errorf("%s: %v, %v", name, flat, err)
		}
		count, err := x.SearchBatch(t.Context(), &api.SearchBatchRequest{Index: "x", Queries: []string{"a"}, Count: true})
		if err != nil || !slices.Equal(count.GetCounts(), []uint64{3 * most}) || count.GetCoverage() != nil {
			t.Errorf("%s: %v, %v", name, count, err)
		}
		y := api.NewTableServiceClient(connect.NewClient(connecthttp.NewTransport(&http.Client{Transport: h2c}, tables, option)))
		rows, err := y.Select(t.Context(), &api.SelectRequest{Table: "x", Where: "a = 1", Limit: new(uint32(3)), AllowPartial: true})
		if err != nil || rows.GetCount() != 3*most || !slices.Equal(rows.GetRows(), []uint64{most - 1, 2*most - 1, 3*most - 1}) || rows.GetCoverage().GetShards() != 3 {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
}
