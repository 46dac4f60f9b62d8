package server

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"heddle/engine/api"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// TestExplainScore: the parts of each hit add up to the score of the search, bit for bit.
func TestExplainScore(t *testing.T) {
	r := inspecting(t, Options{})
	docs := r.path("looms.tsv")
	if err := os.WriteFile(docs, []byte("a\tthe red loom red loom\nb\tthe blue loom of a red mill\nc\tlooms of looms\nd\tthe end\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := indexbuild.Build(t.Context(), r.path("looms.hdl"), []string{docs}, indexbuild.Options{Format: indexbuild.Text, Store: hdl.StoreText, Positions: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"red^3 loom absent", `loom*`, `"red loom" mill^2`, "loom AND (red OR mill) NOT blue", "+the red"} {
		for _, variant := range []string{"lucene", "pisa"} {
			found := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", fmt.Sprintf(`{"query":%q,"k":9,"scoring":{"variant":%q}}`, query, variant))
			if len(found.Hits) == 0 {
				t.Errorf("%s: no hits", query)
			}
			for _, h := range found.Hits {
				w := decoded[api.ScoreExplanation](r, "POST", "/v1/indexes/looms/score", fmt.Sprintf(`{"query":%q,"id":%d,"scoring":{"variant":%q}}`, query, h.Id, variant))
				sum := 0.0
				for _, p := range w.Parts {
					sum += p.Score
					if p.Frequency > 0 != (p.Score > 0) || p.Score > p.Weight || p.Frequency > 0 && p.Length == 0 {
						t.Errorf("%s, document %s: part %v", query, h.Doc, p)
					}
				}
				if w.Score != h.Score || sum != h.Score || w.Doc != h.Doc || w.Scoring.GetVariant() != variant || w.Documents != 4 {
					t.Errorf("%s, document %s: score %v, sum %v, want %v: %v", query, h.Doc, w.Score, sum, h.Score, &w)
				}
			}
		}
	}
	w := decoded[api.ScoreExplanation](r, "POST", "/v1/indexes/looms/score", `{"query":"red^3 loom absent","id":0}`)
	if p := w.Parts; len(p) != 3 || p[0].Term != "red" || p[0].Boost != 3 || p[0].Frequency != 2 || p[0].Documents != 2 || p[0].Length != 5 || p[2].Term != "absent" || p[2].Weight != 0 {
		t.Errorf("parts %v", p)
	}
	best := decoded[api.SearchResponse](r, "POST", "/v1/indexes/looms/search", `{"query":"loom* t*","expand_score":"best","k":1}`).Hits[0]
	w = decoded[api.ScoreExplanation](r, "POST", "/v1/indexes/looms/score", fmt.Sprintf(`{"query":"loom* t*","expand_score":"best","id":%d}`, best.Id))
	if w.Score != best.Score || w.Score == 0 {
		t.Errorf("score %v of the best terms, want %v", w.Score, best.Score)
	}
	for body, want := range map[string]string{
		`{"query":"red","id":0,"tie":2}`: "tie: 2 is not from 0 to 1", `{"query":"red","id":4294967296}`: "does not match document 4294967296",
		`{"query":"red","id":3}`: "the query does not match document 3", `{"query":"red","id":9}`: "does not match document 9", `{"query":"red AND"}`: "nothing behind",
	} {
		if reply, p := r.problem("POST", "/v1/indexes/looms/score", body); !strings.Contains(p.Detail, want) {
			t.Errorf("%s: %d %q, want %q", body, reply.status, p.Detail, want)
		}
	}
}

// TestInspectPages: totals and pages, and the tree of the way.
func TestInspectPages(t *testing.T) {
	r := inspecting(t, Options{})
	first := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", `{"query":"the red loom","k":1,"total":true,"after":"*"}`)
	if first.Total.GetValue() != 3 || !first.Total.GetExact() || first.After == "" || len(first.Hits) != 1 {
		t.Fatalf("first page %v", &first)
	}
	byCursor := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", fmt.Sprintf(`{"query":"the red loom","k":1,"after":%q}`, first.After))
	byOffset := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", `{"query":"the red loom","k":1,"offset":1}`)
	if byCursor.Hits[0].Id != byOffset.Hits[0].Id || byOffset.Hits[0].Id == first.Hits[0].Id || byOffset.After != "" {
		t.Errorf("second page %v by cursor, %v by offset", byCursor.Hits, byOffset.Hits)
	}
	step := func(of *api.Step, names ...string) *api.Step {
		for _, name := range names {
			var next *api.Step
			for _, s := range of.GetSteps() {
				if s.Name == name {
					next = s
				}
			}
			of = next
		}
		return of
	}
	if p := first.Plan; p.GetName() != "rank or" || step(p, "queue") == nil || step(p, host).GetMs() != first.Way.RanMs || step(p, host, "lists", "red").GetBytes() == 0 {
		t.Errorf("plan %v", first.Plan)
	}
	boolean := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", `{"query":"the loom","mode":"and","algorithm":"bs"}`)
	if a := step(boolean.Plan, host, "algorithm"); a.GetDetail() != "bs" || !strings.Contains(step(boolean.Plan, host, "lists", "loom").GetDetail(), "looked up") {
		t.Errorf("plan of a conjunction %v", boolean.Plan)
	}
	again := decoded[api.InspectSearchResponse](r, "POST", "/v1/indexes/looms/inspect", `{"query":"the loom","mode":"and","algorithm":"bs"}`)
	if (step(again.Plan, "cache of answers") != nil) != again.Way.Cached {
		t.Errorf("plan of an answer that may be kept: %v", again.Plan)
	}
	for _, c := range []struct{ body, want string }{
		{`{"query":"red","offset":1}`, "ranked queries"},
		{`{"query":"red","total":true}`, "total needs k"},
		{`{"query":"red","k":1,"sort":["year"]}`, "looms"},
	} {
		if _, p := r.problem("POST", "/v1/indexes/looms/inspect", c.body); !strings.Contains(p.Detail, c.want) {
			t.Errorf("%s: %q, want %q", c.body, p.Detail, c.want)
		}
	}
}
