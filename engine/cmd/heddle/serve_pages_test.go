//go:build !core

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	"heddle/engine/api"
	"heddle/engine/internal/layout"
)

// servePages serves documents with attributes as an index file d, a collection e, and an index d of a cluster.
func servePages(t *testing.T) (indexes []pagedIndex, years map[string]int) {
	inTempDir(t)
	years = map[string]int{}
	var lines strings.Builder
	for i := range 90 {
		name, text := fmt.Sprint("n", i), strings.Repeat("loom ", i%7)+strings.Repeat("red ", i%5)+strings.Repeat("thing ", i%11)
		years[name] = 1990 + i%13
		fmt.Fprintf(&lines, `{"id":%q,"text":%q,"year":%d}`+"\n", name, text, years[name])
	}
	writeFile(t, "d.jsonl", lines.String())
	must(t, "index", "build", "-o", "d.hdl", "--attributes", "d.hdb", "d.jsonl")
	must(t, "collection", "create", "e", "--attribute", "year=int")
	half := strings.Index(lines.String(), `{"id":"n40"`)
	for _, part := range []string{lines.String()[:half], lines.String()[half:]} {
		writeFile(t, "part.jsonl", part)
		must(t, "collection", "add", "e", "part.jsonl")
	}
	must(t, "cluster", "split", "-o", "d.shards", "--shards", "3", "d.hdl", "--attributes", "d.hdb")
	maps := []*layout.Map{placed(t, "d.shards", "n")}
	nodes := map[string]*serving{"n": serve(t, "--drain-delay", "0s", "--shards", "d.shards/manifest.json")}
	front := serveCluster(t, "cluster.json", nodes, maps)
	own := serve(t, "--drain-delay", "0s", "--index", "d=d.hdl", "--index", "e=e", "--table", "d=d.hdb")
	for _, at := range []struct {
		s     *serving
		index string
	}{{own, "d"}, {own, "e"}, {front, "d"}} {
		c, err := api.NewClient(at.s.url, api.ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		indexes = append(indexes, pagedIndex{c, at.s, at.index})
	}
	return indexes, years
}

// pagedIndex is an index of a server.
type pagedIndex struct {
	*api.Client
	s    *serving
	name string
}

// TestFlatCursors follows the cursors of flat batches to the end: each page of a query is the page of a single search, on
// an index file, a collection and a cluster.
func TestFlatCursors(t *testing.T) {
	indexes, years := servePages(t)
	queries := []string{"loom", "red loom", "none", "thing -red", "loom NOT"}
	for _, sort := range [][]string{nil, {"year desc", "score"}} {
		var first [][]string // names by query
		for _, x := range indexes {
			names := make([][]string, len(queries))
			after := slices.Repeat([]string{"*"}, len(queries))
			after[1] = "" // the first page, without a cursor of the next
			for pages := 0; slices.ContainsFunc(after, func(a string) bool { return a != "" }); pages++ {
				if pages > 90 {
					t.Fatal("cursors without an end")
				}
				flat, err := x.SearchBatch(t.Context(), &api.SearchBatchRequest{Index: x.name, Queries: queries, K: new(uint32(7)), Sort: sort, Names: true, After: after})
				if err != nil {
					t.Fatal(err)
				}
				at := 0
				for i, text := range queries {
					end := int(flat.GetEnds()[i])
					single, err := x.Search(t.Context(), &api.SearchRequest{Index: x.name, Query: text, K: new(uint32(7)), Sort: sort, After: after[i]})
					if (err != nil) != slices.ContainsFunc(flat.GetErrors(), func(e *api.BatchError) bool { return int(e.GetQuery()) == i }) {
						t.Fatalf("%q: %v, and in a batch %v", text, err, flat.GetErrors())
					}
					var hits []string
					for n, h := range single.GetHits() {
						hits = append(hits, h.GetDoc())
						if at+n < end && (flat.GetIds()[at+n] != h.GetId() || flat.GetScores()[at+n] != h.GetScore()) {
							t.Fatalf("%q: document %d", text, n)
						}
					}
					if !slices.Equal(hits, flat.GetDocs()[at:end]) || single.GetAfter() != flat.GetAfter()[i] {
						t.Fatalf("%q from %s: %q to %q, want %q to %q", text, after[i], flat.GetDocs()[at:end], flat.GetAfter()[i], hits, single.GetAfter())
					}
					if after[i] != "" {
						names[i] = append(names[i], hits...)
					}
					at, after[i] = end, flat.GetAfter()[i]
				}
			}
			if first == nil {
				first = names
			}
			if fmt.Sprint(names) != fmt.Sprint(first) || len(names[0]) != 77 || len(names[1]) != 0 {
				t.Errorf("%s: %q, want %q", x.name, names, first)
			}
			if sort != nil && !slices.IsSortedFunc(names[0], func(a, b string) int { return years[b] - years[a] }) {
				t.Errorf("%s: %q", x.name, names[0])
			}
		}
	}
	for want, ask := range map[string]*api.SearchBatchRequest{
		"after has 1 cursors, want one for each of the 2 queries": {Queries: []string{"loom", "red"}, After: []string{"*"}},
		"offset and after exclude each other":                     {Queries: []string{"loom"}, After: []string{"*"}, Offset: 1},
		"after: it is no cursor":                                  {Queries: []string{"loom"}, After: []string{"x"}},
		"k must be at least 1":                                    {Queries: []string{"loom"}, After: []string{"*"}, Count: true},
	} {
		for _, x := range indexes {
			ask.Index = x.name
			got, err := x.SearchBatch(t.Context(), ask)
			for _, e := range got.GetErrors() {
				err = fmt.Errorf("query: %s", e.GetError().GetMessage())
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", x.name, err, want)
			}
		}
	}
	for _, x := range indexes {
		body := `{"query":"loom -loom","collapse":"year"}` + "\n" + `{"query":"loom -loom","match":true}`
		if got, want := x.s.ask("/v1/indexes/"+x.name+"/search/batch", body), "{\"hits\":[]}\n{\"count\":0,\"hits\":[]}\n"; got != want {
			t.Errorf("%s: lines without hits: %q, want %q", x.name, got, want)
		}
	}
}

// TestLeastScores counts documents with a least score and returns none, with the parameters of scores, on an index file, a
// collection and a cluster: as many as a search for all documents has.
func TestLeastScores(t *testing.T) {
	indexes, _ := servePages(t)
	scoring := &api.Scoring{Variant: "atire", K1: new(2.0)}
	for _, x := range indexes {
		for _, q := range []*api.SearchRequest{
			{Query: "loom red"}, {Query: "loom red", Scoring: scoring}, {Query: "thing -red", Filter: &api.Filter{Where: "year > 1995"}}, {Query: "none"},
			{Terms: []string{"loom", "red"}, Weights: []float64{0.5, 3}}, {Query: "loom red", Mode: "and"},
			{Query: "*", Boost: &api.Boost{Column: "year", From: structpb.NewNumberValue(1990), To: structpb.NewNumberValue(2002), Weight: 1.5}},
		} {
			q.Index, q.K = x.name, new(uint32(90))
			all, err := x.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			q.K = new(uint32(0))
			for _, least := range []float64{1e-9, 0.1, 0.2, 0.35, 0.5, 0.8, 1, 1.5, 9} {
				want := uint64(0)
				for _, h := range all.GetHits() {
					if h.GetScore() >= least {
						want++
					}
				}
				q.MinScore = least
				one, err := x.Search(t.Context(), q)
				if err != nil || len(one.GetHits()) > 0 || one.GetTotal().GetValue() != want || !one.GetTotal().GetExact() {
					t.Fatalf("%s: %v: %v, %v, want %d", x.name, q, one, err, want)
				}
				if q.Terms != nil {
					continue
				}
				flat, err := x.SearchBatch(t.Context(), &api.SearchBatchRequest{Index: x.name, Queries: []string{"loom", q.Query}, K: q.K, Mode: q.Mode, MinScore: least, Scoring: q.Scoring, Filter: q.Filter, Boost: q.Boost})
				if err != nil || len(flat.GetErrors()) > 0 || flat.GetTotals()[1].GetValue() != want || len(flat.GetIds()) > 0 {
					t.Fatalf("%s: %v in a batch: %v, %v, want %d", x.name, q, flat, err, want)
				}
			}
		}
		up := &api.SearchRequest{Index: x.name, Query: "loom red", K: new(uint32(0)), MinScore: 0.2, Total: structpb.NewNumberValue(5), Facets: &api.Facets{Columns: []string{"year"}}}
		if got, err := x.Search(t.Context(), up); err != nil || got.GetTotal().GetValue() != 5 || got.GetTotal().GetExact() || len(got.GetFacets().GetColumns()) != 1 {
			t.Errorf("%s: up to 5: %v, %v", x.name, got, err)
		}
		for body, want := range map[string]string{
			`{"query":"loom red","k":0,"min_score":1.5,"sort":["score"]}`: "k must be at least 1; 0 is for the total with min_score",
			`{"query":"loom red","k":0,"min_score":1.5,"total":false}`:    "k must be at least 1; 0 is for the total with min_score",
		} {
			if got := x.s.ask("/v1/indexes/"+x.name+"/search", body); !strings.Contains(got, want) {
				t.Errorf("%s: %s: %s, want %s", x.name, body, got, want)
			}
		}
	}
	for _, path := range []string{"d.hdl", "e"} {
		lines := must(t, "search", path, "--query", "loom red", "-k", "90", "--no-header", "--format", "tsv", "--min-score", "0.3")
		if got, want := must(t, "search", path, "--query", "loom red", "-k", "0", "--no-header", "--min-score", "0.3", "--total"), fmt.Sprintf("total\t%d\n", strings.Count(lines, "\n")); got != want || want == "total\t0\n" {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		wantFailure(t, heddle(t, "search", path, "--query", "loom", "-k", "0", "--min-score", "0.3"), exitUsage, "-k must be at least 1, or 0 with --min-score and --total")
		wantFailure(t, heddle(t, "search", path, "--query", "loom", "-k", "0", "--min-score", "0.3", "--total", "--offset", "1"), exitUsage, "k must be at least 1")
	}
}

// TestLineScoring: lines with parameters of scores, alike and others one after the other, have the answers of single searches, on
// an index file, a collection and a cluster.
func TestLineScoring(t *testing.T) {
	indexes, _ := servePages(t)
	bodies := []string{`"query":"loom red","k":3`, `"query":"loom red","k":3,"scoring":{"variant":"atire","k1":2}`, `"query":"red","k":3,"scoring":{"variant":"atire","k1":2}`,
		`"query":"red","k":3,"scoring":{"b":0}`, `"query":"red","k":3`, `"query":"red","k":0,"min_score":0.5,"scoring":{"k1":2}`, `"query":"red","scoring":{"b":2}`, `"query":"red","match":true,"scoring":{"b":1}`}
	hits := regexp.MustCompile(`"hits":\[.*?\]`)
	detail := regexp.MustCompile(`scoring: .*?"|"scoring and statistics .*?"`)
	for _, x := range indexes {
		lines := strings.Split(x.s.ask("/v1/indexes/"+x.name+"/search/batch", "{"+strings.Join(bodies, "}\n{")+"}"), "\n")
		if len(lines) < len(bodies) {
			t.Fatalf("%s: %q", x.name, lines)
		}
		for i, body := range bodies[:7] {
			one := x.s.ask("/v1/indexes/"+x.name+"/search", "{"+body+"}")
			if got, want := hits.FindString(lines[i])+detail.FindString(lines[i]), hits.FindString(one)+detail.FindString(one); got != want || want == "" {
				t.Errorf("%s: %s: %s, want %s", x.name, body, lines[i], one)
			}
		}
		if !strings.Contains(lines[7], "scoring and statistics are for ranked queries") || hits.FindString(lines[0]) == hits.FindString(lines[1]) || !strings.Contains(lines[5], `"total":{"value":`) {
			t.Errorf("%s: %q", x.name, lines)
		}
	}
}
