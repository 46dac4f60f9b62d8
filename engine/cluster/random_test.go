package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/split"
	"heddle/engine/index/bm25"
	indexbuild "heddle/engine/index/build"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/layout"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
)

// parts is a file and its shards, as a property draws them.
type parts struct {
	*rapid.T
	engine *engine.Engine
	dir    string
}

// must ends the check on an error.
func (p *parts) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// split cuts a file of n documents or rows at random places, some of them equal, and returns a
// coordinator of its shards.
func (p *parts) split(file string, n int) *Coordinator {
	cuts := rapid.SliceOfN(rapid.Uint64Range(0, uint64(n)), 0, 5).Draw(p.T, "cuts")
	slices.Sort(cuts)
	out := filepath.Join(p.dir, "shards")
	all, err := split.File(p.Context(), file, out, split.Options{Shards: 1, Cuts: append([]uint64{}, cuts...)})
	p.must(err)
	m := newMachines()
	m.layout, all.Epoch = all, 1
	for i, s := range all.Shards {
		name := fmt.Sprint("n", i%3)
		all.Shards[i].Replicas = []string{name}
		path := filepath.Join(out, s.File)
		if all.Kind == layout.Table {
			x, err := p.engine.OpenTable(p.Context(), path, engine.TableOptions{})
			p.must(err)
			p.Cleanup(func() { x.Close() })
			m.node(name).AddTable(all.Name, 1, i, x)
			continue
		}
		x, err := p.engine.OpenIndex(p.Context(), path, engine.IndexOptions{})
		p.must(err)
		p.Cleanup(func() { x.Close() })
		m.node(name).AddIndex(all.Name, 1, i, x)
	}
	return New(m, m, Options{Limits: expansions})
}

// expansions bounds the terms of prefixes and tolerant words, so that some are above the limit.
var expansions = engine.Limits{Expansions: 4}

// property runs a check with a folder of its own for each check.
func property(t *testing.T, holds func(*parts)) {
	e := limitedEngine(t, expansions)
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		holds(&parts{t, e, dir})
	})
}

// word draws one of few words, so that scores are often equal.
var word = rapid.SampledFrom([]string{"a", "b", "b", "c", "ca", "cab", "d", "da", "e", "nowhere"})

// leaf draws a word, a prefix, a tolerant word or a word with a weight.
var leaf = rapid.Custom(func(t *rapid.T) string {
	if rapid.IntRange(0, 5).Draw(t, "tolerant") == 0 {
		return rapid.SampledFrom([]string{"c?b", "*a", "c*b^3", "/c(a|ab)?/", "/[a-d]+/^0.5", "[b TO d]", "{* TO cab}", "[ca TO *]^2"}).Draw(t, "form")
	}
	return word.Draw(t, "word") + rapid.SampledFrom([]string{"", "", "", "*", "^2.5", "*^0.5", "~", "~1^2", "~2,1"}).Draw(t, "suffix")
})

// expression draws a query with operators; few are invalid.
var expression = rapid.Custom(func(t *rapid.T) string {
	var draw func(depth int) string
	draw = func(depth int) string {
		if depth == 0 {
			return leaf.Draw(t, "leaf")
		}
		a, b := draw(depth-1), draw(rapid.IntRange(0, depth-1).Draw(t, "depth"))
		form := rapid.SampledFrom([]string{"%s %s", "(%s AND %s)", "(%s OR %s)", "(%s NOT %s)", "+%s %s", "%s -%s", "(%s) OR NOT (%s)", "-(%s) -(%s)", "(%s) AND NOT (%s)", "(%s"}).Draw(t, "form")
		if strings.Count(form, "%s") == 1 {
			return fmt.Sprintf(form, a)
		}
		return fmt.Sprintf(form, a, b)
	}
	return draw(rapid.IntRange(0, 3).Draw(t, "depth"))
})

// question draws a query of any mode and form.
var question = rapid.Custom(func(t *rapid.T) (q engine.Query) {
	q.Match = rapid.SampledFrom(engine.Matches()).Draw(t, "match")
	switch rapid.IntRange(0, 5).Draw(t, "form") {
	case 0:
		q.Terms = rapid.SliceOfN(word, 1, 4).Draw(t, "terms")
		if rapid.Bool().Draw(t, "weighted") {
			for range q.Terms {
				q.Weights = append(q.Weights, rapid.SampledFrom([]float64{0.25, 1, 3.7}).Draw(t, "weight"))
			}
		}
	case 1:
		q.Text = strings.Join(rapid.SliceOfN(word, 0, 5).Draw(t, "words"), " ")
		q.Literal = rapid.Bool().Draw(t, "literal")
	default:
		q.Text = expression.Draw(t, "expression")
	}
	q.Expansion = engine.Expansion{Top: rapid.Bool().Draw(t, "top"), PrefixLength: rapid.IntRange(0, 2).Draw(t, "prefix length"), Best: rapid.Bool().Draw(t, "best")}
	if q.K = rapid.SampledFrom([]int{0, 1, 3, 10, 100}).Draw(t, "k"); q.K == 0 {
		q.CountOnly, q.Weights = rapid.Bool().Draw(t, "count"), nil
		return q
	}
	if rapid.Bool().Draw(t, "scored") {
		q.Scoring = &bm25.Params{Variant: rapid.SampledFrom(bm25.Variants()).Draw(t, "variant"), K1: 1.2, B: rapid.SampledFrom([]float64{0, 0.75}).Draw(t, "b")}
	}
	if !strings.ContainsAny(q.Text, querylang.Tolerance) && rapid.IntRange(0, 3).Draw(t, "replaced") == 0 {
		q.Statistics = &engine.Statistics{Docs: 1000, Length: 9000, DF: map[string]uint64{"a": 700, "b": 20, "c": 1, "ca": 400, "cab": 999, "d": 30, "da": 5, "e": 2}}
	}
	return q
})

// TestRandomIndex: an index in random shards, some of them empty, gives the answers of the whole
// index: the same documents, scores, names and errors, alone and in batches.
func TestRandomIndex(t *testing.T) {
	property(t, func(p *parts) {
		docs := rapid.SliceOfN(rapid.SliceOfN(word.Filter(func(w string) bool { return w != "nowhere" }), 0, 6), 1, 40).Draw(p.T, "docs")
		text := ""
		for i, words := range docs {
			text += fmt.Sprintf("d%d\t%s\n", i, strings.Join(words, " "))
		}
		from, file := filepath.Join(p.dir, "x.tsv"), filepath.Join(p.dir, "x.hdl")
		p.must(os.WriteFile(from, []byte(text), 0o644))
		impacts := rapid.SampledFrom([]uint8{0, 0, 8, 16}).Draw(p.T, "impacts")
		_, err := indexbuild.Build(p.Context(), file, []string{from}, indexbuild.Options{Format: indexbuild.Text, Impacts: impacts})
		p.must(err)
		index, err := p.engine.OpenIndex(p.Context(), file, engine.IndexOptions{})
		p.must(err)
		defer index.Close()
		whole, err := index.Snapshot()
		p.must(err)
		defer whole.Close()
		c := p.split(file, len(docs))
		var batch []engine.Query
		var wants []api.Hits
		for _, q := range rapid.SliceOfN(question, 1, 12).Draw(p.T, "queries") {
			h, err := whole.Search(p.Context(), q)
			want := api.Hits{Err: err}
			if err == nil {
				want = api.Hits{Count: h.Count, Scores: h.Scores, Note: whole.Note(q, h.Count > 0)}
				if h.Docs != nil {
					want.IDs = []uint64{}
				}
				for _, d := range h.Docs {
					name, err := whole.File().DocName(d)
					if err != nil {
						p.Fatal(err)
					}
					want.IDs, want.Names = append(want.IDs, uint64(d)), append(want.Names, name)
				}
			}
			got, _, err := c.Search(p.Context(), "x", q, api.Ask{Names: true})
			got.Err = err
			same(p, q, got, want)
			if engine.CodeOf(want.Err) != engine.InvalidOption { // which fails a whole batch
				batch, wants = append(batch, q), append(wants, want)
			}
		}
		got, _, err := c.SearchAll(p.Context(), "x", batch, api.Ask{Names: true})
		p.must(err)
		for i, h := range got {
			same(p, batch[i], h, wants[i])
		}
	})
}

// condition draws a predicate on columns a and b; few are invalid.
var condition = rapid.Custom(func(t *rapid.T) string {
	one := func() string {
		return rapid.SampledFrom([]string{"a", "b", "b", "a", "c"}).Draw(t, "column") + rapid.SampledFrom([]string{" = ", " < ", " >= ", " != "}).Draw(t, "comparison") +
			rapid.SampledFrom([]string{"0", "2", "3", "9", "a", "b"}).Draw(t, "value")
	}
	all := one()
	for range rapid.IntRange(0, 3).Draw(t, "more") {
		all = fmt.Sprintf(rapid.SampledFrom([]string{"%s AND %s", "(%s) OR %s", "NOT (%s) AND %s"}).Draw(t, "form"), all, one())
	}
	return all
})

// TestRandomTable: a table in random shards gives the rows and errors of the whole table.
func TestRandomTable(t *testing.T) {
	property(t, func(p *parts) {
		cells := rapid.SliceOfN(rapid.IntRange(0, 15), 1, 60).Draw(p.T, "cells")
		text := "a,b\n"
		for _, x := range cells {
			text += fmt.Sprintf("%d,%d\n", x%4, x/4)
		}
		src, err := csv.Open(p.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(text)})
		p.must(err)
		defer src.Close()
		file := filepath.Join(p.dir, "x.hdb")
		_, err = tablebuild.Build(p.Context(), src, file, tablebuild.Options{})
		p.must(err)
		whole, err := p.engine.OpenTable(p.Context(), file, engine.TableOptions{})
		p.must(err)
		defer whole.Close()
		c := p.split(file, len(cells))
		for _, where := range rapid.SliceOfN(condition, 1, 8).Draw(p.T, "predicates") {
			limit := rapid.SampledFrom([]uint64{0, 1, 7}).Draw(p.T, "limit")
			if err := sameRows(p.Context(), c, "x", whole, where, limit); err != nil {
				p.Errorf("%q, limit %d: %v", where, limit, err)
			}
		}
	})
}

// TestExplain: an explanation has a part for each shard that answered.
func TestExplain(t *testing.T) {
	m, _, _ := gaps(t)
	c := New(m, m, Options{})
	h, _, err := c.Search(t.Context(), "x", sample, api.Ask{Explain: true, AllowPartial: true})
	if err != nil || !strings.HasPrefix(h.Explanation, "shard 0:\n") || strings.Contains(h.Explanation, "shard 1:") || !strings.Contains(h.Explanation, "\nshard 2:\n") {
		t.Errorf("%q, %v", h.Explanation, err)
	}
	for i, part := range strings.Split(strings.TrimPrefix(h.Explanation, "shard 0:\n"), "\nshard 2:\n") {
		if !strings.Contains(part, "rank") || !strings.Contains(part, "ran on pure Go") {
			t.Errorf("part %d: %q", i, part)
		}
	}
	h, _, err = c.Search(t.Context(), "x", sample, api.Ask{AllowPartial: true})
	if err != nil || h.Explanation != "" {
		t.Errorf("not asked for: %q, %v", h.Explanation, err)
	}
}
