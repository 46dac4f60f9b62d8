package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/engine/internal/pool"
	"heddle/engine/table/predicate/predicatetest"
)

// plainFacet counts the values of column i of flights in documents.
func plainFacet(docs []uint32, i, limit int) (f Facet) {
	c := flights()[i]
	counts, missing := map[string]uint64{}, uint64(0)
	for _, d := range docs {
		if v := c.Values[d]; v == nil {
			missing++
		} else {
			counts[fmt.Sprint(v)]++
		}
	}
	f = Facet{Column: c.Name, Values: []FacetValue{}, Distinct: uint64(len(counts))}
	for v, n := range counts {
		f.Values = append(f.Values, FacetValue{Value: v, Count: n})
	}
	if missing > 0 {
		f.Values = append(f.Values, FacetValue{Missing: true, Count: missing})
	}
	slices.SortFunc(f.Values, byCount)
	if limit >= 0 && len(f.Values) > limit {
		f.Values = f.Values[:limit]
	}
	return f
}

// byCount orders values by count, then by text.
func byCount(a, b FacetValue) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
}

// TestFacets counts the values of the documents of queries of every kind, with and without a filter.
func TestFacets(t *testing.T) {
	a := openAttributed(t, backendOptions(t), 0)
	var columns []string
	var at []int
	for i, c := range flights() {
		switch c.Values[0].(type) {
		case string, int64, int, bool:
			columns, at = append(columns, c.Name), append(at, i)
		}
	}
	if len(columns) < 2 {
		t.Fatalf("columns %q", columns)
	}
	filter := &Filter{Where: wheres[0], Table: a.table}
	for _, q := range []Query{
		{Text: "t1"}, {Text: "t1 t2 t3", Match: And}, {Text: "t5 NOT t1"}, {Text: "t1 t2", K: 3},
		{Text: "t1 t30 t39", K: 10, Match: AndOr}, {Text: "+t10 t25", K: 1, Match: AndOr}, {Text: "unknown"}, {Text: "t1 t2", Filter: filter},
		{Text: "x10~1", Expansion: Expansion{PrefixLength: 1}}, {Text: "x10~1"},
	} {
		whole := q
		if whole.K = 0; q.Match == AndOr {
			whole.Match = And
			if h, err := a.Search(t.Context(), whole); err != nil || h.Count < uint64(q.K) || strings.Contains(q.Text, "+") {
				whole.Match = Or
			}
		}
		h, err := a.Search(t.Context(), whole)
		if err != nil {
			t.Fatal(err)
		}
		if n, all, err := a.Facets(t.Context(), q, Facets{Table: a.table, Columns: columns, Limit: 3, CountOnly: true}); err != nil || n != h.Count ||
			slices.ContainsFunc(all, func(f Facet) bool { return len(f.Values) > 0 }) || all[0].Distinct != plainFacet(h.Docs, at[0], -1).Distinct {
			t.Errorf("%+v, numbers of values: %d, %+v, %v", q, n, all, err)
		}
		for _, limit := range []int{-1, 0, 3} {
			n, all, err := a.Facets(t.Context(), q, Facets{Table: a.table, Columns: columns, Limit: limit})
			if err != nil || n != h.Count || len(all) != len(columns) {
				t.Fatalf("%+v: %d documents, %d facets, %v; want %d documents", q, n, len(all), err, h.Count)
			}
			for k, f := range all {
				want := plainFacet(h.Docs, at[k], cmp.Or(limit, DefaultFacets))
				if f.Column != want.Column || f.Distinct != want.Distinct || len(f.Values) != len(want.Values) {
					t.Errorf("%+v, %s: %d values of %d, want %d of %d", q, f.Column, len(f.Values), f.Distinct, len(want.Values), want.Distinct)
					continue
				}
				if !slices.IsSortedFunc(f.Values, func(a, b FacetValue) int { return cmp.Compare(b.Count, a.Count) }) {
					t.Errorf("%+v, %s: %v is not in order", q, f.Column, f.Values)
				}
				if limit < 0 { // ties have the order of the column
					slices.SortFunc(f.Values, byCount)
					if !slices.Equal(f.Values, want.Values) {
						t.Errorf("%+v, %s: %v, want %v", q, f.Column, f.Values, want.Values)
					}
					continue
				}
				for i, v := range f.Values {
					if v.Count != want.Values[i].Count {
						t.Errorf("%+v, %s: %v, want %v", q, f.Column, f.Values, want.Values)
					}
				}
			}
		}
	}
	now, err := a.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	q := Query{Text: "t1 t2", K: 3, Filter: filter}
	f := Facets{Table: a.table, Columns: columns}
	want, _ := a.Search(t.Context(), q)
	count, facets, _ := a.Facets(t.Context(), q, f)
	if h, n, all, err := now.SearchFacets(t.Context(), q, f); err != nil || n != count || fmt.Sprint(h, all) != fmt.Sprint(want, facets) {
		t.Errorf("SearchFacets: %v, %d, %v, %v, want %v, %d, %v", h, n, all, err, want, count, facets)
	}
	for name, f := range map[string]Facets{
		"no table":       {Columns: columns},
		"unknown column": {Table: a.table, Columns: []string{"nobody"}},
	} {
		if _, _, err := a.Facets(t.Context(), Query{Text: "t1"}, f); CodeOf(err) != InvalidQuery {
			t.Errorf("%s: %v", name, err)
		}
	}
	src, dict := rankedCorpus(100).source(t, 0)
	x, err := a.e.NewIndex(t.Context(), src, dict, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = x.Facets(t.Context(), Query{Text: "t1"}, Facets{Table: a.table, Columns: columns})
	if _, ok := errors.AsType[*FilterSizeError](err); !ok {
		t.Errorf("a table of another size: %v", err)
	}
}

// TestFacetBins counts the documents of a query per bin: bounds that documents have and bounds
// beyond all values, bins of the table, and faults of bins.
func TestFacetBins(t *testing.T) {
	a := openAttributed(t, backendOptions(t), 0)
	distance := slices.IndexFunc(flights(), func(c predicatetest.Column) bool { return c.Name == "distance" })
	var docs []uint32
	for _, q := range []Query{{Text: "t1 t2", Match: Or}, {Text: "unknown"}} {
		h, err := a.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		docs = h.Docs
		want := Facet{Column: "bins(distance, -5, 500, 1000, 1e300)", Values: []FacetValue{{Value: "< -5"}, {Value: "[-5, 500)"}, {Value: "[500, 1000)"}, {Value: "[1000, 1e300)"}, {Value: ">= 1e300"}}}
		missing := uint64(0)
		for _, d := range docs {
			v, ok := flights()[distance].Values[d].(float64)
			switch {
			case !ok:
				missing++
			case v < 500:
				want.Values[1].Count++
			case v < 1000:
				want.Values[2].Count++
			default:
				want.Values[3].Count++
			}
		}
		for _, v := range want.Values {
			if v.Count > 0 {
				want.Distinct++
			}
		}
		if missing > 0 {
			want.Values = append(want.Values, FacetValue{Missing: true, Count: missing})
		}
		n, got, err := a.Facets(t.Context(), q, Facets{Table: a.table, Columns: []string{"bins(distance, -5, 500, 1000, 1e300)", "Bins( distance )", "distance"}, Limit: 2})
		if err != nil || n != uint64(len(docs)) || fmt.Sprint(got[0]) != fmt.Sprint(want) {
			t.Errorf("%s: %d documents, %v, %v; want %d, %v", q.Text, n, got, err, len(docs), want)
			continue
		}
		sum := uint64(0)
		for _, v := range got[1].Values { // values that the table has
			sum += v.Count
		}
		if sum != n || len(got[1].Values) < 3 || len(got[2].Values) > 2 {
			t.Errorf("%s: %d documents in bins of the table, want %d: %v", q.Text, sum, n, got[1:])
		}
	}
	for column, reason := range map[string]string{
		"bins(distance, 5, 1)":        "column 19: the bounds of bins must ascend",
		"bins(nobody, 5)":             "column 6: unknown column",
		"bins(distance, x)":           "column 16: a bound such as 10",
		"bins(distance, 1), bins(at)": "column 20: one column is expected here",
	} {
		if _, _, err := a.Facets(t.Context(), Query{Text: "t1"}, Facets{Table: a.table, Columns: []string{column}}); CodeOf(err) != InvalidQuery || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", column, err)
		}
	}
}

// TestFacetTime: the steps of a call with facets end together, after the time-out of the query.
func TestFacetTime(t *testing.T) {
	a := openAttributed(t, backendOptions(t), 0)
	g, err := a.Internal().Acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	for timeout, bound := range map[time.Duration]bool{time.Hour: true, 0: false} {
		ctx, stop := g.Bounded(t.Context(), &pool.Call{Timeout: timeout})
		if _, ok := ctx.Deadline(); ok != bound {
			t.Errorf("time-out %v: a deadline %t", timeout, ok)
		}
		stop()
	}
	f := Facets{Table: a.table, Columns: []string{"distance"}}
	if _, _, err := a.Facets(t.Context(), Query{Text: "t1", Timeout: time.Nanosecond}, f); CodeOf(err) != Deadline {
		t.Errorf("after the time-out: %v", err)
	}
}
