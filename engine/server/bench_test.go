package server

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/cputime"
	"heddle/engine/server/bodies"
)

// BenchmarkHandler measures the CPU time of a query through the handler, without a network,
// beside a query to the engine. The difference is the cost of the server.
func BenchmarkHandler(b *testing.B) {
	r := run(b, Options{})
	handler := r.Handler()
	const batch = 1000
	measure := func(b *testing.B, queries int, f func()) {
		b.ReportAllocs()
		began := cputime.Total()
		for b.Loop() {
			f()
		}
		b.ReportMetric(float64(cputime.Total()-began)/float64(b.N*queries), "cpu-ns/query")
	}
	post := func(b *testing.B, path, kind string, body []byte, queries int) {
		measure(b, queries, func() {
			req := httptest.NewRequest("POST", "http://localhost"+path, bytes.NewReader(body))
			req.Header.Set("Content-Type", kind)
			w := httptest.NewRecorder()
			if handler.ServeHTTP(w, req); w.Code != http.StatusOK {
				b.Fatal(w.Body)
			}
		})
	}
	encode := func(m proto.Message) []byte {
		text, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		return text
	}
	queries := make([]engine.Query, batch)
	texts := make([]string, batch)
	for i := range queries {
		queries[i], texts[i] = engine.Query{Text: "red loom", K: 10}, "red loom"
	}
	x, err := r.indexes.Get("looms")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("engine", func(b *testing.B) {
		measure(b, 1, func() {
			if _, err := x.Search(b.Context(), queries[0]); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("engine batch", func(b *testing.B) {
		measure(b, batch, func() {
			if err := x.SearchAll(b.Context(), queries, func(int, []engine.Hits) error { return nil }); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("plain", func(b *testing.B) {
		post(b, "/v1/indexes/looms/search", bodies.JSON, []byte(`{"query":"red loom","k":10}`), 1)
	})
	b.Run("Connect", func(b *testing.B) {
		post(b, api.IndexServiceSearchProcedure, "application/proto", encode(&api.SearchRequest{Index: "looms", Query: "red loom", K: new(uint32(10))}), 1)
	})
	b.Run("lines", func(b *testing.B) {
		post(b, "/v1/indexes/looms/search/batch", bodies.Lines, []byte(strings.Repeat(`{"query":"red loom","k":10}`+"\n", batch)), batch)
	})
	b.Run("flat", func(b *testing.B) {
		post(b, api.IndexServiceSearchBatchProcedure, "application/proto", encode(&api.SearchBatchRequest{Index: "looms", Queries: texts, K: new(uint32(10))}), batch)
	})
}
