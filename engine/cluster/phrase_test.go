package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/build"
)

// drawPhrases draws a query with phrases and windows of the words of corpus.
func drawPhrases(t *rapid.T) string {
	var clauses []string
	for range rapid.IntRange(1, 3).Draw(t, "clauses") {
		var words []string
		for range rapid.IntRange(1, 3).Draw(t, "words") {
			words = append(words, rapid.SampledFrom([]string{"w0", "w1", "w2", "w3", "w1*", "w2*", "none"}).Draw(t, "word"))
		}
		text := strings.Join(words, " ")
		form := rapid.SampledFrom([]string{`"%s"`, `"%s"~4`, "NEAR/6(%s)", "ORDERED/4(%s)^2"}).Draw(t, "form")
		clauses = append(clauses, rapid.SampledFrom([]string{"", "+", "-", "w4 "}).Draw(t, "mark")+fmt.Sprintf(form, text))
	}
	return strings.Join(clauses, " ")
}

// TestPhrases: shards give the documents and the scores of one file, bit for bit.
func TestPhrases(t *testing.T) {
	a := attribute(t, newEngine(t))
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		q := engine.Query{Text: drawPhrases(t), K: rapid.SampledFrom([]int{0, 5, 300}).Draw(t, "k")}
		if q.K > 0 && rapid.Bool().Draw(t, "total") {
			q.Total = engine.TotalExact
		}
		if q.K > 0 && rapid.IntRange(0, 3).Draw(t, "sorted") == 0 {
			q.Sort = []string{"year", "score"}
		}
		whole := q
		if whole.Sort != nil {
			whole.Table = a.table
		}
		if rapid.Bool().Draw(t, "filtered") {
			q.Filter = &engine.Filter{Where: "year >= 2000"}
			whole.Filter = on(q.Filter, a.table)
		}
		want, err := a.now.Search(t.Context(), whole)
		if err != nil {
			t.Fatalf("%s: %v", q.Text, err)
		}
		found += min(len(want.Docs), 1)
		c := a.shards[rapid.IntRange(0, len(a.shards)-1).Draw(t, "split")]
		all, _, err := c.SearchAll(t.Context(), "x", []engine.Query{{Text: "w1", K: 3}, q}, api.Ask{})
		if err != nil || all[1].Err != nil {
			t.Fatalf("%s: %v, %v", q.Text, err, all)
		}
		got := all[1]
		var docs []uint32
		for _, d := range got.IDs {
			docs = append(docs, uint32(d))
		}
		if !slices.Equal(docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) || got.Total != want.Total {
			t.Fatalf("%+v: %v %v %v, want %v %v %v", q, docs, got.Scores, got.Total, want.Docs, want.Scores, want.Total)
		}
	})
	if found == 0 {
		t.Error("no query has documents")
	}
}

// TestPhrasesOfCollections: a collection of several segments with deleted documents gives the answers of a build of the others.
func TestPhrasesOfCollections(t *testing.T) {
	e, dir := newEngine(t), t.TempDir()
	lines := corpus(120)
	c, err := e.OpenCollection(t.Context(), dir+"/c", engine.CollectionOptions{Create: &engine.CollectionSettings{Positions: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var left []string
	for part := range slices.Chunk(lines, 40) {
		var documents []engine.Document
		for _, line := range part {
			name, text, _ := strings.Cut(line, "\t")
			documents = append(documents, engine.Document{Name: name, Text: text})
		}
		if _, err := c.Add(t.Context(), slices.Values(documents)); err != nil {
			t.Fatal(err)
		}
	}
	for i, line := range lines {
		name, _, _ := strings.Cut(line, "\t")
		if i%7 == 3 {
			if _, err := c.Delete(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			continue
		}
		left = append(left, line)
	}
	opt := build.DefaultOptions()
	opt.Format, opt.Positions, opt.Stdin = build.Text, true, strings.NewReader(strings.Join(left, "\n"))
	if _, err := build.Build(t.Context(), dir+"/x.hdl", []string{"-"}, opt); err != nil {
		t.Fatal(err)
	}
	x, err := e.OpenIndex(t.Context(), dir+"/x.hdl", engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	rapid.Check(t, func(t *rapid.T) {
		q := engine.Query{Text: drawPhrases(t), K: rapid.SampledFrom([]int{0, 200}).Draw(t, "k"), Names: true}
		want, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Search(t.Context(), q)
		if err != nil || !slices.Equal(got.Names, want.Names) || !slices.Equal(got.Scores, want.Scores) {
			t.Fatalf("%s: %v %v, %v, want %v %v", q.Text, got.Names, got.Scores, err, want.Names, want.Scores)
		}
	})
}
