package cluster

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
)

// TestOwnErrors: a query that asks for a column that the index lacks has an error of its own.
func TestOwnErrors(t *testing.T) {
	e := newEngine(t)
	c := attribute(t, e).shards[1]
	qs := []engine.Query{{Text: "w0", K: 3}, {Text: "w0", K: 3, Sort: []string{"none"}}, {Text: "w0", K: 3, Fields: &engine.Fields{Attributes: []string{"none"}}}, {Text: "w0", K: 3, Sort: []string{"year"}}}
	hits, _, err := c.SearchAll(t.Context(), "x", qs, api.Ask{Names: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hits {
		if wrong := i == 1 || i == 2; (h.Err != nil) != wrong || (len(h.IDs) != 3) != wrong || len(h.Names) != len(h.IDs) {
			t.Errorf("query %d: %+v", i, h)
		}
	}
}

// TestFetch compares the documents of hits from shards with the documents of the whole, for queries with different
// parts in one batch, and documents by their names.
func TestFetch(t *testing.T) {
	e := newEngine(t)
	a := attribute(t, e)
	kinds := []engine.Fields{{Source: true}, {Snippet: &engine.Snippet{Size: 12, Mark: [2]string{"<", ">"}, Escape: true}}, {Attributes: []string{"lang", "year"}},
		{Source: true, Attributes: []string{"*"}, Snippet: &engine.Snippet{Size: 30}}}
	rapid.Check(t, func(t *rapid.T) {
		qs, whole := make([]engine.Query, rapid.IntRange(1, 5).Draw(t, "queries")), []engine.Query{}
		for i := range qs {
			qs[i] = engine.Query{Text: rapid.SampledFrom([]string{"w0 w3", "w2*", "w1 AND w4 NOT w0", "w9 w10 w11", "none", "w12345 ww1 +w1 w999", "xw10 w11*", "w1 xw10~1"}).Draw(t, "text"), K: rapid.SampledFrom([]int{0, 1, 7, 300}).Draw(t, "k"),
				Literal: rapid.Bool().Draw(t, "literal")}
			qs[i].Expansion.PrefixLength = rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "prefix length")
			own := qs[i]
			if kind := rapid.IntRange(-1, len(kinds)-1).Draw(t, "kind"); kind >= 0 {
				qs[i].Fields = &kinds[kind]
				f := kinds[kind]
				f.Table = a.table
				own.Fields = &f
			}
			whole = append(whole, own)
		}
		c := a.shards[rapid.IntRange(0, len(a.shards)-1).Draw(t, "split")]
		got, _, err := c.SearchAll(t.Context(), "x", qs, api.Ask{Names: rapid.Bool().Draw(t, "names")})
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range whole {
			want, err := a.now.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(want.Documents) != len(got[i].Documents) || len(want.Documents) > 0 && !reflect.DeepEqual(got[i].Documents, want.Documents) {
				t.Fatalf("query %d, %+v: %+v, want %+v", i, q, got[i].Documents, want.Documents)
			}
			for n := range got[i].Documents {
				if name, _ := a.now.File().DocName(want.Docs[n]); got[i].Names[n] != name || got[i].Documents[n].Name != name {
					t.Fatalf("query %d: document %d is %q and %q, want %q", i, n, got[i].Names[n], got[i].Documents[n].Name, name)
				}
			}
		}
		doc := rapid.IntRange(0, 301).Draw(t, "document")
		name := fmt.Sprint("doc", doc)
		own := kinds[3]
		own.Table = a.table
		at, want, err := a.now.Document(t.Context(), name, own)
		ask := own.Internal()
		id, found, wrong := c.Document(t.Context(), "x", name, &ask)
		if engine.CodeOf(err) != engine.CodeOf(wrong) || err == nil != (doc < 300) || id != uint64(at) || err == nil && (!reflect.DeepEqual(found, want) || want.Source == nil || want.Attributes == nil) {
			t.Fatalf("%s: %d %+v, %v, want %d %+v, %v", name, id, found, wrong, at, want, err)
		}
		for _, q := range qs {
			want, err := a.now.Corrections(t.Context(), q)
			if got, wrong := c.Corrections(t.Context(), "x", q); err != nil || wrong != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("corrections of %s: %v, %v, want %v, %v", q.Text, got, wrong, want, err)
			}
		}
		prefix, number := rapid.SampledFrom([]string{"w", "W1", "w12", "x", "w 1", ""}).Draw(t, "prefix"), rapid.IntRange(-1, 1001).Draw(t, "number")
		suggested, err := a.now.Suggest(t.Context(), prefix, number)
		if got, wrong := c.Suggest(t.Context(), "x", prefix, number); engine.CodeOf(err) != engine.CodeOf(wrong) || !reflect.DeepEqual(got, suggested) {
			t.Fatalf("terms with %q: %v, %v, want %v, %v", prefix, got, wrong, suggested, err)
		}
		from, most := rapid.Uint64Range(0, 301).Draw(t, "from"), rapid.IntRange(1, 200).Draw(t, "most")
		ids, names, next, err := c.ListDocuments(t.Context(), "x", from, most)
		if n := min(most, 300-min(300, int(from))); err != nil || len(ids) != n || len(names) != n || (next > 0) != (int(from)+most < 300) || next > 0 && next != from+uint64(most) {
			t.Fatalf("from %d, %d: %d documents, next %d, %v", from, most, len(ids), next, err)
		}
		for i, id := range ids {
			if id != from+uint64(i) || names[i] != fmt.Sprint("doc", id) {
				t.Fatalf("document %d is %d, %s", i, id, names[i])
			}
		}
	})
}

// TestCorrections: a collection corrects the words of a query that no document has, not the terms of prefixes and tolerant words that
// deleted documents alone have, and no excluded words.
func TestCorrections(t *testing.T) {
	c, err := newEngine(t).OpenCollection(t.Context(), t.TempDir()+"/c", engine.CollectionOptions{Create: &engine.CollectionSettings{Positions: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Add(t.Context(), slices.Values([]engine.Document{{Name: "a", Text: "red loom heaven"}, {Name: "gone", Text: "looms loomy"}})); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"looms hevan": "[{looms [{loom 1}]} {hevan [{heaven 1}]}]", "lo* hevan^2 -lomo": "[{hevan [{heaven 1}]}]", `"hevan lo*" OR +lom~1 -heavn`: "[{hevan [{heaven 1}]}]",
		"hevan looms lomo": "[{hevan [{heaven 1}]} {looms [{loom 1}]} {lomo [{loom 1}]}]", "lo*": "[]", `"lo* re*" NOT hevan`: "[]", "NEAR/3(lo* hevan)": "[{hevan [{heaven 1}]}]",
	} {
		got, err := c.Corrections(t.Context(), engine.Query{Text: text})
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
}
