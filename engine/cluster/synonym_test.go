package cluster

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/analyze"
	"heddle/engine/index/synonym"
)

// TestSynonyms: queries with synonyms by the analysis that shards tell have the documents and the scores of one file with
// synonyms.
func TestSynonyms(t *testing.T) {
	whole, shards := fielded(t, newEngine(t))
	snapshot, err := whole.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	rules, err := synonym.Read(strings.NewReader("w1, w2\nAlias => w3, w1 w0\nw4 w5 => w6\n"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := snapshot.Synonyms(rules)
	if err != nil {
		t.Fatal(err)
	}
	var sets []*synonym.Set
	for _, c := range shards {
		s, positions, err := c.Analysis(t.Context(), "x")
		if err != nil || !positions {
			t.Fatalf("positions %v, %v", positions, err)
		}
		a, err := analyze.New(s)
		if err != nil {
			t.Fatal(err)
		}
		set, err := rules.For(a, positions)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"w0", "w1", "w2", "alias", "w4 w5", "title:w2", "-w7", "+ALIAS"}), 1, 3).Draw(t, "words")
		text := strings.Join(words, " ")
		q := engine.Query{K: 20, QueryFields: rapid.SampledFrom([]string{"", "title^2,body"}).Draw(t, "fields")}
		want, got := q, q
		n := rapid.IntRange(0, len(shards)-1).Draw(t, "split")
		if want.Text, err = own.Rewrite(text, false, q.Match.Join()); err != nil {
			t.Fatal(err)
		}
		if got.Text, err = sets[n].Rewrite(text, false, q.Match.Join()); err != nil || got.Text != want.Text {
			t.Fatalf("%s: %s, want %s; %v", text, got.Text, want.Text, err)
		}
		one, err := whole.Search(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		all, _, err := shards[n].Search(t.Context(), "x", got, api.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		var docs []uint32
		for _, d := range all.IDs {
			docs = append(docs, uint32(d))
		}
		if found += len(docs); !slices.Equal(docs, one.Docs) || !slices.Equal(all.Scores, one.Scores) {
			t.Fatalf("%s: %v %v, want %v %v", got.Text, docs, all.Scores, one.Docs, one.Scores)
		}
	})
	if found == 0 {
		t.Error("no query has documents")
	}
}

// TestAnalysis: one shard that answers is enough. Nodes of an earlier commit do not tell the analysis.
func TestAnalysis(t *testing.T) {
	m := place(t, newEngine(t), corpus(20), []int{0, 10, 20}, 1)
	hide := func(reply any) {
		if r, ok := reply.(*api.DescribeShardResponse); ok {
			r.Analysis = nil
		}
	}
	m.damage = map[string]func(any){"n0": hide}
	if s, positions, err := New(m, m, Options{}).Analysis(t.Context(), "x"); err != nil || positions || s.Stemmer == "" {
		t.Errorf("%+v %v %v", s, positions, err)
	}
	m.damage = map[string]func(any){"n0": hide, "n1": hide}
	if _, _, err := New(m, m, Options{}).Analysis(t.Context(), "x"); engine.CodeOf(err) != engine.Unsupported {
		t.Errorf("old nodes: %v", err)
	}
}
