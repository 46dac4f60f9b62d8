package cluster_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectinprocess"

	"heddle/engine"
	"heddle/engine/cluster"
	"heddle/engine/cluster/shard"
	"heddle/engine/cluster/split"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/internal/layout"
	"heddle/engine/server"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
)

// cuts is a cluster of one node with all shards.
type cuts struct {
	maps  map[string]*layout.Map
	calls *connect.Server
}

func (c cuts) Dial(string) (connect.Transport, error) { return connectinprocess.New(c.calls), nil }

func (c cuts) Map(_ context.Context, name string) (*layout.Map, error) {
	if m := c.maps[name]; m != nil {
		return m, nil
	}
	return nil, &engine.Error{Code: engine.NotFound, Op: "find index", Err: fmt.Errorf("no index is named %q", name)}
}

func (c cuts) Refresh(ctx context.Context, name string) (*layout.Map, error) { return c.Map(ctx, name) }

func (c cuts) Names(context.Context) ([]string, error) { return slices.Collect(maps.Keys(c.maps)), nil }

// files builds an index and a table.
func files(t *testing.T) (index, table string) {
	dir := t.TempDir()
	index, table = filepath.Join(dir, "x.hdl"), filepath.Join(dir, "t.hdb")
	text, rows := "", "a,b\n"
	for i := range 60 {
		text += fmt.Sprintf("d%d\tred w%d w%d\n", i, i%7, i%3)
		rows += fmt.Sprintf("%d,%d\n", i%11, i%4)
	}
	docs := filepath.Join(dir, "docs.tsv")
	if err := os.WriteFile(docs, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := indexbuild.Build(t.Context(), index, []string{docs}, indexbuild.Options{Format: indexbuild.Text}); err != nil {
		t.Fatal(err)
	}
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(rows)})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := tablebuild.Build(t.Context(), src, table, tablebuild.Options{}); err != nil {
		t.Fatal(err)
	}
	return index, table
}

// TestRoutes: a server on shards replies with the bytes of a server on the files, times left out.
func TestRoutes(t *testing.T) {
	e, err := engine.New(t.Context(), engine.Options{Backend: "host", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	index, table := files(t)
	whole, err := server.New(e, server.Options{Indexes: map[string]string{"x": index}, Tables: map[string]string{"t": table}})
	if err != nil {
		t.Fatal(err)
	}
	if err := whole.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var shards shard.Memory
	c := cuts{map[string]*layout.Map{}, connect.NewServer()}
	for name, file := range map[string]string{"x": index, "t": table} {
		dir := filepath.Join(t.TempDir(), name)
		m, err := split.File(t.Context(), file, dir, split.Options{Shards: 3})
		if err != nil {
			t.Fatal(err)
		}
		m.Epoch = 1
		c.maps[name] = m
		for i := range m.Shards {
			m.Shards[i].Replicas = []string{"n"}
			part := filepath.Join(dir, m.Shards[i].File)
			if m.Kind == layout.Table {
				open, err := e.OpenTable(t.Context(), part, engine.TableOptions{})
				if err != nil {
					t.Fatal(err)
				}
				shards.AddTable(name, 1, i, open)
				continue
			}
			open, err := e.OpenIndex(t.Context(), part, engine.IndexOptions{})
			if err != nil {
				t.Fatal(err)
			}
			shards.AddIndex(name, 1, i, open)
		}
	}
	shard.Register(c.calls, &shards)
	parts, err := server.New(e, server.Options{Remote: cluster.New(c, c, cluster.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	// The files differ, and their lists and processors.
	times := regexp.MustCompile(`"(took_ms|queued_ms|request_id|lists|checksum)":[^,}]*|,"resident":\[[^]]*\]`)
	reply := func(s *server.Server, path, body string) string {
		w, method := httptest.NewRecorder(), http.MethodPost
		if rest, ok := strings.CutPrefix(path, "GET "); ok {
			method, path = http.MethodGet, rest
		}
		s.Handler().ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body)))
		text, err := io.ReadAll(w.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %s %s", w.Code, w.Header().Get("Content-Type"), times.ReplaceAllString(string(text), ""))
	}
	for _, call := range [][2]string{
		{"/v1/indexes/x/search", `{"query":"red w1 w2","k":7}`},
		{"/v1/indexes/x/search", `{"query":"w1","k":7,"filter":{"docs":{"ids":[1,3,50]}}}`},
		{"/v1/indexes/x/match", `{"query":"w1","filter":{"docs":{"ids":[]}}}`},
		{"/v1/indexes/x/search", `{"query":"w6 w2","mode":"and-or","k":20,"scoring":{"variant":"atire"}}`},
		{"/v1/indexes/x/search", `{"query":"w1* -w2","k":5}`},
		{"/v1/indexes/x/search", `{"query":"(w1 w2"}`},
		{"/v1/indexes/x/search", `{"query":"w1","k":5000}`},
		{"/v1/indexes/y/search", `{"query":"w1"}`},
		{"/v1/indexes/x/match", `{"query":"w1 w2","mode":"and"}`},
		{"/v1/indexes/x/match", `{"query":"red","limit":25}`},
		{"/v1/indexes/x/match", `{"query":"red","count":true}`},
		{"/v1/indexes/x/match", `{"query":"nowhere"}`},
		{"/v1/indexes/x/match", `{"query":"w1","mode":"and-or"}`},
		{"/v1/indexes/x/statistics", `{"terms":["w1","nowhere","red"]}`},
		{"/v1/indexes/x/search/batch", "{\"id\":1,\"query\":\"w1\",\"k\":3}\n{\"query\":\"(\"}\n{\"query\":\"w2\",\"match\":true}\n{\"query\":\"w2\",\"count\":true}\n{\"terms\":[\"w1\",\"w2\"],\"weights\":[2,1]}\n"},
		{"/heddle.v1.IndexService/SearchBatch", `{"index":"x","queries":["w1","(","w2 w3"],"k":4,"names":true}`},
		{"/v1/indexes/x/search", `{"query":"?! --"}`},
		{"/v1/indexes/x/search", `{"query":"w1 - w2","k":1}`},
		{"/v1/indexes/x/search", `{"query":"w1 - w2","k":1,"literal":true}`},
		{"/v1/indexes/x/match", `{"query":"?! -w1"}`},
		{"/v1/indexes/x/search", `{"query":"?!","k":3,"filter":{"docs":{"ids":[1,3,50]}}}`},
		{"/v1/indexes/x/match", `{"query":"?!","count":true}`},
		{"/v1/indexes/x/search/batch", "{\"id\":1,\"query\":\"?!\"}\n{\"query\":\"w2 )\",\"k\":1}\n{\"query\":\"w2\",\"count\":true}\n{\"terms\":[\"nowhere\"]}\n"},
		{"/heddle.v1.IndexService/SearchBatch", `{"index":"x","queries":["w1","(","?!","w2 w3"],"k":4}`},
		{"/v1/tables/t/count", `{"where":"a < 5"}`},
		{"/v1/tables/t/count", `{"where":"a <"}`},
		{"/v1/tables/t/select", `{"where":"a < 5 AND b = 1"}`},
		{"/v1/tables/t/select", `{"where":"a < 5 AND b = 1","in":{"rows":{"numbers":[0,1,2,3,4,20,21,22,23,24,40,45]}}}`},
		{"/v1/tables/t/count", `{"in":{"values":[{"column":"a","values":["1","3","007"]},{"column":"b","values":["1"]}],"rows":{"numbers":[1,14,25,26]}}}`},
		{"/v1/tables/t/count", `{"in":{"rows":{"numbers":[]}}}`},
		{"/v1/tables/t/aggregate", `{"select":"b, count(*)","group_by":"b","in":{"rows":{"numbers":[1,5,14,59]}}}`},
		{"/v1/tables/t/select", `{"where":"a < 5","limit":4}`},
		{"/v1/tables/t/select", `{"where":"a = 99"}`},
		{"/v1/tables/t/select", `{"where":"a < 5","limit":0}`},
		{"/v1/tables/t/aggregate", `{"select":"b, count(*)","group_by":"b","limit":0}`},
		{"/v1/tables/t/aggregate", `{"select":"*","limit":0,"offset":3}`},
		{"/heddle.v1.TableService/CountBatch", `{"table":"t","where":["a < 5","a <","b = 2"]}`},
		{"/heddle.v1.TableService/CountBatch", `{"table":"t","where":["a <"]}`},
		{"/heddle.v1.TableService/CountBatch", `{"table":"t","where":["c = 1"]}`},
		{"/heddle.v1.TableService/CountBatch", `{"table":"t","where":[]}`},
		{"/heddle.v1.TableService/CountBatch", `{"table":"u","where":["a < 5"]}`},
		{"/heddle.v1.TableService/CountBatch", `{"table":"u","where":[]}`},
		{"/v1/tables/x/count", `{"where":"a < 5"}`},
		{"/v1/tables/t/aggregate", `{"select":"b, count(*), sum(a) AS total, avg(a), max(a)","group_by":"b"}`},
		{"/v1/tables/t/aggregate", `{"select":"a, count(DISTINCT b), quantile(b, 0.5)","where":"a < 5","group_by":"a","order_by":"a DESC","limit":3,"offset":1}`},
		{"/v1/tables/t/aggregate", `{"select":"*","where":"a > 8","order_by":"b DESC, a","limit":7}`},
		{"/v1/tables/t/aggregate", `{"select":"max(a), sum(b)","where":"FALSE"}`},
		{"/v1/tables/t/aggregate", `{"select":"b, sum(aa)"}`},
		{"/v1/tables/t/aggregate", `{"select":"*","where":"a <"}`},
		{"/v1/tables/u/aggregate", `{"select":"*"}`},
		{"GET /v1/indexes", ""},
		{"GET /v1/indexes/x", ""},
		{"GET /v1/indexes/t", ""},
		{"GET /v1/tables", ""},
		{"GET /v1/tables/t", ""},
		{"GET /v1/tables/x", ""},
		{"GET /v1/indexes/x/ready", ""},
		{"GET /v1/indexes/t/ready", ""},
		{"GET /v1/tables/t/ready", ""},
		{"GET /v1/tables/u/ready", ""},
	} {
		got, want := reply(parts, call[0], call[1]), reply(whole, call[0], call[1])
		if got != want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", call[0], call[1], got, want)
		}
	}
}
