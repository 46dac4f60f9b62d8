package server

import (
	"os"
	"strings"
	"testing"

	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// TestPages: offset, sort, min_score and cursors in the body of a search and in lines, and their errors.
func TestPages(t *testing.T) {
	r := serveBooks(t, hdl.StoreNone)
	names := func(body string) string {
		var all []string
		for part := range strings.SplitSeq(body, `"doc":"`) {
			if name, _, found := strings.Cut(part, `"`); found && !strings.HasPrefix(part, "{") {
				all = append(all, name)
			}
		}
		return strings.Join(all, " ")
	}
	cursor := func(body string) string {
		_, rest, _ := strings.Cut(body, `"after":"`)
		after, _, _ := strings.Cut(rest, `"`)
		return after
	}
	for body, want := range map[string]string{
		`{"query":"loom","offset":1}`:                                                                 "b",
		`{"query":"loom","sort":["year desc"]}`:                                                       "b a/1",
		`{"sort":["year desc"]}`:                                                                      "b a/1 c",
		`{"sort":["year"],"filter":{"where":"year > 2000"}}`:                                          "b",
		`{"query":"*","sort":["score asc","year"],"k":2}`:                                             "a/1 b",
		`{"query":"loom","min_score":0.3}`:                                                            "a/1",
		`{"query":"loom","boost":{"column":"year","from":1999,"to":"2004","weight":9}}`:               "b a/1",
		`{"query":"loom","boost":{"column":"year","from":2004,"to":1999.0,"weight":9},"min_score":9}`: "a/1",
		`{"query":"*","collapse":"year","sort":["year desc"],"k":2}`:                                  "b a/1",
		`{"query":"*","collapse":"year","collapse_limit":3,"offset":1}`:                               "b c",
	} {
		for _, path := range []string{"/v1/indexes/books/search", "/v1/indexes/books/search/batch"} {
			if got := r.do("POST", path, body); got.status != 200 || names(got.body) != want {
				t.Errorf("%s %s: %d %s, want %s", path, body, got.status, got.body, want)
			}
		}
	}
	var all []string
	after := "*"
	for after != "" {
		got := r.do("POST", "/v1/indexes/books/search", `{"sort":["year desc"],"k":1,"total":true,"after":"`+after+`"}`)
		if got.status != 200 || !strings.Contains(got.body, `"total":{"value":3,"exact":true}`) {
			t.Fatalf("%+v", got)
		}
		if name := names(got.body); name != "" {
			all = append(all, name)
		}
		if next := cursor(got.body); next != "" && next == after {
			t.Fatal("a cursor that stays")
		} else {
			after = next
		}
	}
	if got := strings.Join(all, " "); got != "b a/1 c" {
		t.Errorf("pages %s", got)
	}
	first := cursor(r.do("POST", "/v1/indexes/books/search", `{"query":"loom","k":1,"after":"*"}`).body)
	page := `{"query":"loom","k":1,"after":"` + first + `"}`
	if got := r.do("POST", "/v1/indexes/books/search/batch", page+"\n"+page); names(got.body) != "b b" || strings.Count(got.body, `"after":`) != 2 {
		t.Errorf("%+v", got)
	}
	for body, want := range map[string]string{
		`{"query":"loom","offset":9995}`:                                            `offset 9995 and k 10: their sum is at most 10000`,
		`{"query":"loom","offset":1,"after":"*"}`:                                   `offset and after exclude each other`,
		`{"query":"loom","k":0,"sort":["year"]}`:                                    `are for ranked queries: k must be at least 1`,
		`{"query":"loom","sort":["lang"]}`:                                          `sort: unknown column \"lang\"`,
		`{"query":"loom","sort":[" "]}`:                                             `sort[0] is \" \"`,
		`{"query":"loom","sort":["year","year desc"]}`:                              `sort[1]: \"year\" comes twice`,
		`{"query":"loom","mode":"and-or","min_score":1}`:                            `for the modes or and and`,
		`{"query":"loom","mode":"and-or","min_score":1,"k":0}`:                      `for the modes or and and`,
		`{"query":"loom","mode":"and-or","offset":1}`:                               `for the modes or and and`,
		`{"query":"loom","mode":"and-or","after":"*"}`:                              `for the modes or and and`,
		`{"query":"loom","collapse":"lang"}`:                                        `collapse: unknown column \"lang\"`,
		`{"query":"loom","collapse":"year","collapse_limit":101}`:                   `collapse_limit is 101, want 1 to 100`,
		`{"query":"loom","collapse_limit":2}`:                                       `and a column to collapse`,
		`{"query":"loom","boost":{"column":"year","from":1,"weight":2}}`:            `boost.to: want a number or a text`,
		`{"query":"loom","boost":{"column":"year","from":1,"to":1.5,"weight":2}}`:   `\"1.5\" is no value of column \"year\"`,
		`{"query":"loom","boost":{"column":"year","from":1,"to":2,"weight":1e300}}`: `the weight 1e+300 is more than 2^52 units`,
		`{"query":"loom","boost":{"column":"year","from":1,"to":2}}`:                `the weight is 0, want a positive number`,
		`{"query":"loom","mode":"and-or","collapse":"year"}`:                        `for the modes or and and`,
		`{"query":"loom","min_score":-1}`:                                           `min_score is -1`,
		`{"query":"loom","after":"x"}`:                                              `after: it is no cursor`,
		`{"query":"loom","sort":["score asc"],"after":"` + first + `"}`:             `after: the cursor is of the order score desc, the query has the order score asc`,
	} {
		if got := r.do("POST", "/v1/indexes/books/search", body); got.status != 400 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s, want %s", body, got.status, got.body, want)
		}
	}
	if err := os.WriteFile(r.path("books.jsonl"), []byte(strings.Replace(books, "Blue", "Green", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := build.DefaultOptions()
	opt.Force = true
	if _, err := build.Build(t.Context(), r.path("books.hdl"), []string{r.path("books.jsonl")}, opt); err != nil {
		t.Fatal(err)
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.do("POST", "/v1/indexes/books/search", page); got.status != 410 || !strings.Contains(got.body, `"code":"gone"`) {
		t.Errorf("a cursor of earlier content: %+v", got)
	}
	if got := r.do("POST", "/v1/indexes/books/search/batch", page+"\n"+`{"query":"loom"}`); got.status != 200 || !strings.Contains(got.body, `"code":"gone"`) || names(got.body) != "a/1 b" {
		t.Errorf("a cursor of earlier content in a batch: %+v", got)
	}
}

// TestMemoryOfOrders: an order takes memory for its 2,000 matches, gives it back, and is refused without it.
func TestMemoryOfOrders(t *testing.T) {
	r := run(t, Options{})
	r.documents(2000)
	const plain, sorted = `{"query":"red","k":1}`, `{"query":"red","k":1,"sort":["score"]}`
	r.budget.Set(16 << 10)
	if got := r.do("POST", "/v1/indexes/looms/search", plain); got.status != 200 {
		t.Errorf("without an order: %+v", got)
	}
	if got := r.do("POST", "/v1/indexes/looms/search", sorted); got.status != 413 || !strings.Contains(got.body, `"limit":"memory"`) {
		t.Errorf("no memory: %+v", got)
	}
	r.budget.Set(2 << 20)
	if got := r.do("POST", "/v1/indexes/looms/search/batch", strings.Repeat(sorted+"\n", 100)); got.status != 200 || strings.Contains(got.body, "error") {
		t.Errorf("memory for one order after the other: %+v", got)
	}
}
