package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"github.com/rs/zerolog"

	"heddle/engine/api"
	"heddle/engine/index/synonym"
)

// TestSynonyms puts synonyms into single queries, lines and flat batches.
func TestSynonyms(t *testing.T) {
	rules, err := synonym.Read(strings.NewReader("crimson, red\nyarn => thread\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, Options{Synonyms: map[string]*synonym.Rules{"looms": rules}})
	for query, same := range map[string]string{"crimson": "/red|crimson/", "yarn^2 loom": "thread^2 loom"} {
		hits := func(query string) string {
			got := r.do("POST", "/v1/indexes/looms/search", `{"query":"`+query+`"}`)
			text, _, _ := strings.Cut(got.body, `"took_ms"`)
			if got.status != http.StatusOK || !strings.Contains(text, `"doc"`) {
				t.Errorf("%s: %d %s", query, got.status, got.body)
			}
			return text
		}
		if got, want := hits(query), hits(same); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := r.do("POST", "/v1/indexes/looms/search/batch", `{"query":"yarn","count":true,"literal":true}`); got.body != "{\"count\":1}\n" {
		t.Errorf("a line: %d %s", got.status, got.body)
	}
	indexes := api.NewIndexServiceClient(connect.NewClient(connecthttp.NewTransport(http.DefaultClient, r.url)))
	for _, literal := range []bool{false, true} {
		flat := &api.SearchBatchRequest{Index: "looms", Queries: []string{"yarn", "absent", "thread"}, Count: true, Literal: literal}
		if got, err := indexes.SearchBatch(t.Context(), flat); err != nil || !slices.Equal(got.GetCounts(), []uint64{1, 0, 1}) {
			t.Errorf("a flat batch, literal %v: %v, %v", literal, got, err)
		}
	}
	if got := r.do("POST", "/v1/indexes/looms/search", `{"query":"red AND"}`); got.status != http.StatusBadRequest || !strings.Contains(got.body, `"offset":4`) {
		t.Errorf("a wrong text: %d %s", got.status, got.body)
	}
	var out lines
	log := zerolog.New(&out)
	changed := run(t, Options{Log: &log})
	if err := changed.SetSynonyms(t.Context(), map[string]*synonym.Rules{"looms": rules, "absent": rules}); err != nil || len(out.with(`"level":"warn"`, `"index":"absent"`, "server.synonyms")) != 1 || len(out.with(`"level":"warn"`)) != 1 {
		t.Errorf("synonyms of an absent index: %v, %s", err, out.text.String())
	}
	if rules, err = synonym.Read(strings.NewReader("red, dark red")); err != nil {
		t.Fatal(err)
	}
	bare := run(t, Options{Synonyms: map[string]*synonym.Rules{"looms": rules}})
	if got := bare.do("POST", "/v1/indexes/looms/search", `{"query":"red"}`); got.status != http.StatusBadRequest || !strings.Contains(got.body, "line 1: \\\"dark red\\\" has 2 terms") {
		t.Errorf("without positions: %d %s", got.status, got.body)
	}
}
