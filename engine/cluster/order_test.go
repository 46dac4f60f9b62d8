package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/order"
)

// ranking is a document with its score and the values of its attributes, "" for none.
type ranking struct {
	doc        uint64
	score      float64
	year, lang string
}

// model sorts all documents of a query in the plainest way.
func (a *attributed) model(t *rapid.T, q engine.Query) (all []ranking) {
	own := engine.Query{Text: q.Text, Match: q.Match, K: 300, Filter: q.Filter}
	if own.Text == "" {
		own.Text = "*"
	}
	h, err := a.now.Search(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range h.Docs {
		year, lang, _ := strings.Cut(a.rows[d], ",")
		if h.Scores[i] >= q.MinScore {
			all = append(all, ranking{uint64(d), h.Scores[i], year, strings.Trim(lang, `"`)})
		}
	}
	slices.SortFunc(all, func(x, y ranking) int {
		for _, key := range q.Sort {
			name, direction, _ := strings.Cut(key, " ")
			c := 0
			switch name {
			case "score":
				if c = cmp.Compare(x.score, y.score); direction != "asc" {
					c = -c
				}
			default:
				u, v := x.year, y.year
				if name == "lang" {
					u, v = x.lang, y.lang
				}
				switch {
				case u == v:
				case u == "": // the missing one last
					c = 1
				case v == "":
					c = -1
				default:
					if c = cmp.Compare(u, v); direction == "desc" {
						c = -c
					}
				}
			}
			if c != 0 {
				return c
			}
		}
		if len(q.Sort) == 0 && x.score != y.score {
			return cmp.Compare(y.score, x.score)
		}
		return cmp.Compare(x.doc, y.doc)
	})
	return all
}

// TestForeignCursors: the cursor of another index has ended, whether it is of the same epoch or a later one.
func TestForeignCursors(t *testing.T) {
	a := attribute(t, newEngine(t))
	q := engine.Query{Text: "w0", K: 3, After: engine.FirstPage}
	first, _, err := a.shards[0].Search(t.Context(), "x", q, api.Ask{})
	if err != nil || first.After == "" {
		t.Fatal(first, err)
	}
	for cursor, want := range map[string]engine.Code{first.After: engine.OK, (&order.Spec{}).Cursor("epoch 99 0", &order.Place{}): engine.Gone} {
		q.After = cursor
		if _, _, err := a.shards[0].Search(t.Context(), "x", q, api.Ask{}); engine.CodeOf(err) != want {
			t.Errorf("%s: %v, want %v", cursor, err, want)
		}
		if _, _, err := a.shards[1].Search(t.Context(), "x", q, api.Ask{}); engine.CodeOf(err) != engine.Gone {
			t.Errorf("%s, other shards: %v", cursor, err)
		}
	}
}

// TestOrders compares orders, pages and least scores with a plain model: in one file and in shards, alone and in a
// batch, page after page.
func TestOrders(t *testing.T) {
	e := newEngine(t)
	a := attribute(t, e)
	rapid.Check(t, func(t *rapid.T) {
		q := engine.Query{Text: rapid.SampledFrom([]string{"w0 w3", "w2*", "w1 AND w4 NOT w0", "w9 w10 w11", "none", "", "*"}).Draw(t, "text"), K: rapid.SampledFrom([]int{1, 7, 50, 300}).Draw(t, "k"),
			Match: rapid.SampledFrom([]engine.Match{engine.Or, engine.And}).Draw(t, "match"), Total: rapid.SampledFrom([]uint64{0, 5, engine.TotalExact}).Draw(t, "total"),
			Sort: rapid.SampledFrom([][]string{nil, {"year desc", "score"}, {"lang"}, {"lang desc", "year"}, {"score asc"}, {"year", "lang asc", "score desc"}}).Draw(t, "sort")}
		if q.Text == "" && q.Sort == nil {
			q.Sort = []string{"lang", "year"}
		}
		if rapid.Bool().Draw(t, "filtered") {
			q.Filter = &engine.Filter{Where: rapid.SampledFrom([]string{"year >= 2000", "lang IS NULL", "TRUE", "year = 1800"}).Draw(t, "where")}
		}
		if rapid.Bool().Draw(t, "least") {
			q.MinScore = rapid.Float64Range(0, 2).Draw(t, "min_score")
		}
		whole := q
		whole.Table = a.table
		if q.Filter != nil {
			whole.Filter = on(q.Filter, a.table)
		}
		want := a.model(t, whole)
		c := a.shards[rapid.IntRange(0, len(a.shards)-1).Draw(t, "split")]
		batch := rapid.Bool().Draw(t, "batch")
		check := func(q, whole engine.Query, from int) (after string) {
			var one engine.Hits
			var err error
			if batch {
				err = a.now.SearchAll(t.Context(), []engine.Query{{Text: "w1", K: 3}, whole}, func(first int, hits []engine.Hits) error {
					if at := 1 - first; at >= 0 && at < len(hits) {
						one = hits[at]
						one.Docs, one.Scores = slices.Clone(one.Docs), slices.Clone(one.Scores)
					}
					return nil
				})
			} else {
				one, err = a.now.Search(t.Context(), whole)
			}
			all, _, wrong := c.SearchAll(t.Context(), "x", []engine.Query{{Text: "w1", K: 3}, q}, api.Ask{Names: true})
			if err != nil || wrong != nil || all[1].Err != nil {
				t.Fatal(err, wrong, all)
			}
			parts, expected := all[1], want[min(from, len(want)):min(from+q.K, len(want))]
			if len(one.Docs) != len(expected) || len(parts.IDs) != len(expected) {
				t.Fatalf("%+v: %d documents, and %d from shards, want %d", q, len(one.Docs), len(parts.IDs), len(expected))
			}
			for i, w := range expected {
				if uint64(one.Docs[i]) != w.doc || parts.IDs[i] != w.doc || one.Scores[i] != w.score || parts.Scores[i] != w.score || parts.Names[i] != fmt.Sprint("doc", w.doc) {
					t.Fatalf("%+v: place %d is %d and %d of scores %v and %v, want %+v", q, from+i, one.Docs[i], parts.IDs[i], one.Scores[i], parts.Scores[i], w)
				}
			}
			if n := min(uint64(len(want)), q.Total); q.Total > 0 && (one.Total.Value != n || one.Total != parts.Total || one.Total.Exact != (uint64(len(want)) <= q.Total)) {
				t.Fatalf("%+v: totals %+v and %+v, want %d of %d", q, one.Total, parts.Total, n, len(want))
			}
			if (one.After != "") != (q.After != "" && len(expected) == q.K) || (parts.After == "") != (one.After == "") {
				t.Fatalf("%+v: cursors %q and %q", q, one.After, parts.After)
			}
			whole.After, q.After = one.After, parts.After
			return parts.After + "/" + one.After
		}
		q.Offset = rapid.IntRange(0, 40).Draw(t, "offset")
		whole.Offset = q.Offset
		check(q, whole, q.Offset)
		q.Offset, whole.Offset, q.After, whole.After = 0, 0, engine.FirstPage, engine.FirstPage
		for from := 0; from < 400; from += q.K {
			parts, one, _ := strings.Cut(check(q, whole, from), "/")
			if q.After, whole.After = parts, one; parts == "" {
				break
			}
		}
	})
}
