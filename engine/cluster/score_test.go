package cluster

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
)

// TestExplainScore: the score of each hit and its parts are those of one index, bit for bit. A document that the query
// does not match has none.
func TestExplainScore(t *testing.T) {
	a := attribute(t, newEngine(t))
	explained := 0
	rapid.Check(t, func(t *rapid.T) {
		q := engine.Query{K: 300, Match: rapid.SampledFrom([]engine.Match{engine.Or, engine.And, engine.AndOr}).Draw(t, "match")}
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			q.Text = drawPhrases(t)
		case 1:
			q.Text = rapid.SampledFrom([]string{"w0 w3^2", "w1*", "xw10~1 w2", "w1 AND (w4 OR w5) NOT w0", "w12345 ww1 +w1", "none", "", "  ", "..."}).Draw(t, "text")
			if rapid.Bool().Draw(t, "best") {
				q.Expansion.Best = true
			}
		default:
			q.Terms, q.Weights = []string{"w2", "w7", "none"}, []float64{1, 0.5, 3}
		}
		c := a.shards[rapid.IntRange(0, len(a.shards)-1).Draw(t, "split")]
		hits, err := a.now.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []int{0, len(hits.Docs) / 2, -1} {
			doc := rapid.Uint32Range(0, 310).Draw(t, "document")
			if id >= 0 && id < len(hits.Docs) {
				doc = hits.Docs[id]
			}
			asked := q
			asked.Offset, asked.Sort = 5, []string{"year"} // without effect
			want, wrong := a.now.ExplainScore(t.Context(), q, doc)
			got, name, err := c.ExplainScore(t.Context(), "x", asked, uint64(doc))
			if engine.CodeOf(err) != engine.CodeOf(wrong) || (err == nil) != slices.Contains(hits.Docs, doc) || err != nil && err.Error() != wrong.Error() {
				t.Fatalf("%+v, document %d: %v, want %v", q, doc, err, wrong)
			}
			if err != nil {
				continue
			}
			explained++
			for _, w := range []*engine.ScoreExplanation{got, want} {
				if strings.ContainsAny(q.Text, "*~") { // a shard lacks some of the terms
					w.Parts = slices.DeleteFunc(w.Parts, func(p engine.ScorePart) bool { return p.Frequency == 0 })
				}
				for i := range w.Parts {
					if strings.Contains(w.Parts[i].Term, " ") { // documents of the shard
						w.Parts[i].Documents = 0
					}
				}
			}
			if n, _ := a.now.File().DocName(doc); !reflect.DeepEqual(got, want) || got.Score != hits.Scores[slices.Index(hits.Docs, doc)] || name != n {
				t.Fatalf("%+v, document %d: %s %+v, want %s %+v", q, doc, name, got, n, want)
			}
		}
	})
	if explained == 0 {
		t.Error("no score is explained")
	}
	c := a.shards[0]
	for doc, q := range map[uint64]engine.Query{1 << 40: {Text: "w0"}, 3: {Text: "w0 AND"}} {
		if _, _, err := c.ExplainScore(t.Context(), "x", q, doc); err == nil {
			t.Errorf("document %d, %+v: no error", doc, q)
		}
	}
}
