package cluster

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/split"
	"heddle/engine/index/bm25"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// fielded builds a file with the fields title and body, and splits it.
func fielded(t *testing.T, e *engine.Engine) (whole *engine.Index, shards []*Coordinator) {
	t.Helper()
	var docs []string
	for i, line := range corpus(150) {
		_, text, _ := strings.Cut(line, "\t")
		words := strings.Fields(text)
		line, err := json.Marshal(map[string]string{"id": fmt.Sprint("doc", i), "title": strings.Join(words[:i%4], " "), "body": strings.Join(words[i%4:], " ")})
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, string(line))
	}
	dir := t.TempDir()
	opt := indexbuild.Options{Format: indexbuild.JSONL, Fields: []string{"title", "body"}, Positions: true, Store: hdl.StoreText, Stdin: strings.NewReader(strings.Join(docs, "\n"))}
	path := filepath.Join(dir, "x.hdl")
	if _, err := indexbuild.Build(t.Context(), path, []string{"-"}, opt); err != nil {
		t.Fatal(err)
	}
	whole, err := e.OpenIndex(t.Context(), path, engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n, cuts := range splits(len(docs)) {
		parts := filepath.Join(dir, fmt.Sprint(n))
		opt := split.Options{Cuts: []uint64{}}
		for _, c := range cuts[1 : len(cuts)-1] {
			opt.Cuts = append(opt.Cuts, uint64(c))
		}
		l, err := split.File(t.Context(), path, parts, opt)
		if err != nil {
			t.Fatal(err)
		}
		m := newMachines()
		m.layout, l.Epoch = l, 1
		for i := range l.Shards {
			s := &l.Shards[i]
			shard, err := e.OpenIndex(t.Context(), filepath.Join(parts, s.File), engine.IndexOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s.Replicas = []string{fmt.Sprint("n", i%2)}
			m.node(s.Replicas[0]).AddIndex("x", 1, i, shard)
		}
		shards = append(shards, New(m, m, Options{}))
	}
	return whole, shards
}

// TestFields: shards with fields give the documents and the scores of one file, bit for bit.
func TestFields(t *testing.T) {
	whole, shards := fielded(t, newEngine(t))
	for _, c := range shards {
		x, err := c.Index(t.Context(), "x")
		st, wholeErr := whole.Statistics()
		if err != nil || wholeErr != nil || len(x.GetFields()) != 2 {
			t.Fatal(x, err, wholeErr)
		}
		for i, f := range x.GetFields() {
			if (bm25.FieldStatistics{Name: f.GetName(), Docs: f.GetDocs(), Length: f.GetLength()}) != st.Fields[i] || f.GetLists() < 10 {
				t.Errorf("%v, want %v", f, st.Fields[i])
			}
		}
	}
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		var clauses []string
		operators := rapid.Bool().Draw(t, "operators")
		for range rapid.IntRange(1, 4).Draw(t, "clauses") {
			one := fmt.Sprint("w", rapid.IntRange(0, 9).Draw(t, "word"))
			if operators {
				one = rapid.SampledFrom([]string{"", "", "+", "-"}).Draw(t, "mark") + rapid.SampledFrom([]string{"", "title:", "body:"}).Draw(t, "field") +
					rapid.SampledFrom([]string{one, one + "*", one + "~1", `"` + one + ` w1"`, "(" + one + " w2)^2", "/w[1-3]/", "(" + one + " AND title:*)", "(body:* -title:*)"}).Draw(t, "form")
			}
			clauses = append(clauses, one)
		}
		q := engine.Query{Text: strings.Join(clauses, " "), K: rapid.SampledFrom([]int{0, 3, 300}).Draw(t, "k"), QueryFields: rapid.SampledFrom([]string{"", "title^2.5,body", "title"}).Draw(t, "fields")}
		q.Match = rapid.SampledFrom([]engine.Match{engine.Or, engine.And}).Draw(t, "match")
		if q.K > 0 {
			q.Match = rapid.SampledFrom(engine.Matches()).Draw(t, "ranked match")
			q.Total = engine.TotalExact
			q.Literal = !operators && rapid.Bool().Draw(t, "literal")
			if q.Expansion.Best = rapid.Bool().Draw(t, "best"); rapid.Bool().Draw(t, "dismax") {
				tie := rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "tie")
				q.Tie = &tie
			}
		}
		want, err := whole.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", q.Text, err)
		}
		found += min(len(want.Docs), 1)
		c := shards[rapid.IntRange(0, len(shards)-1).Draw(t, "split")]
		all, _, err := c.SearchAll(t.Context(), "x", []engine.Query{{Text: "w1", K: 3}, q}, api.Ask{})
		if err != nil || all[1].Err != nil {
			t.Fatalf("%s: %v, %v", q.Text, err, all)
		}
		var docs []uint32
		for _, d := range all[1].IDs {
			docs = append(docs, uint32(d))
		}
		if !slices.Equal(docs, want.Docs) || !slices.Equal(all[1].Scores, want.Scores) || all[1].Total != want.Total {
			t.Fatalf("%+v: %v %v %v, want %v %v %v", q, docs, all[1].Scores, all[1].Total, want.Docs, want.Scores, want.Total)
		}
		if q.K > 0 && len(docs) > 0 {
			if w, _, err := c.ExplainScore(t.Context(), "x", q, uint64(docs[0])); err != nil || w.Score != want.Scores[0] {
				t.Fatalf("%+v: the score of document %d is explained as %+v, want %v; %v", q, docs[0], w, want.Scores[0], err)
			}
		}
	})
	if found == 0 {
		t.Error("no query has documents")
	}
	for text, want := range map[string]string{"titel:w1": "no document has the field titel, did you mean title?", "title:w1*^x": "the weight"} {
		all, _, err := shards[0].SearchAll(t.Context(), "x", []engine.Query{{Text: text, K: 3}}, api.Ask{})
		if err != nil || all[0].Err == nil || engine.CodeOf(all[0].Err) != engine.InvalidQuery || !strings.Contains(all[0].Err.Error(), want) {
			t.Errorf("%s: %v %v, want %s", text, err, all, want)
		}
	}
	for q, want := range map[string]string{"?! --": "no word is left; without a letter or digit: ?! --", "title:?!": "", "none": ""} {
		for _, k := range []int{0, 3} {
			got, _, err := shards[0].Search(t.Context(), "x", engine.Query{Text: q, K: k}, api.Ask{})
			if err != nil || got.Note != want {
				t.Errorf("%s, k = %d: note %q, want %q; %v", q, k, got.Note, want, err)
			}
		}
	}
	s, err := whole.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, text := range []string{"ww2 ww1", `"ww2 w1" title:ww3 wx1 NOT ww4`, "wx3^2 AND (title:wx2 OR body:ww1) w*"} {
		for _, fields := range []string{"", "title^3,body"} {
			for _, literal := range []bool{false, true} {
				q := engine.Query{Text: text, QueryFields: fields, Literal: literal}
				want, err := s.Corrections(t.Context(), q)
				got, wrong := shards[0].Corrections(t.Context(), "x", q)
				if err != nil || wrong != nil || len(want) < 2 || !reflect.DeepEqual(got, want) {
					t.Errorf("%+v: corrections %v, %v, want %v, %v", q, got, wrong, want, err)
				}
			}
		}
	}
	if _, err := shards[0].Suggest(t.Context(), "x", "", 1); err == nil || err.Error() != "suggest: prefix: want the beginning of a word, found none" {
		t.Errorf("terms with an empty beginning: %v", err)
	}
	h, err := whole.Search(t.Context(), engine.Query{Terms: []string{"title:w1", "body:w2"}, K: 20, Fields: &engine.Fields{Snippet: &engine.Snippet{Size: 1000, Mark: [2]string{"<", ">"}}}})
	if err != nil || len(h.Documents) != 20 || slices.ContainsFunc(h.Documents, func(d engine.Contents) bool {
		return !strings.Contains(d.Snippet, "<w1>") && !strings.Contains(d.Snippet, "<w2>")
	}) {
		t.Errorf("marks of terms: %+v, %v", h.Documents, err)
	}
	st, err := shards[0].Statistics(t.Context(), "x", "title:w1")
	if want, _ := whole.Statistics("title:w1"); err != nil || fmt.Sprint(st) != fmt.Sprint(want) || len(st.Fields) != 2 {
		t.Errorf("statistics %v %v, want %v", st, err, want)
	}
}
