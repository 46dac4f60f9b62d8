package build

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
	"heddle/engine/index/merge"
)

// positionsOf returns the positions of each term in each document of an index.
func positionsOf(t *testing.T, f *hdl.File) map[string]map[uint32][]uint32 {
	t.Helper()
	all := map[string]map[uint32][]uint32{}
	for h := range uint32(f.Terms()) {
		docs, err := f.Source().List(h).AppendTo(nil)
		if err != nil {
			t.Fatal(err)
		}
		freqs, err := f.Freqs(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		values, err := f.Positions(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		list := map[uint32][]uint32{}
		for i, d := range docs {
			next := uint32(0)
			for _, gap := range values[:freqs[i]] {
				list[d] = append(list[d], next+gap)
				next += gap + 1
			}
			values = values[freqs[i]:]
		}
		all[f.Term(h)] = list
	}
	return all
}

// TestPositions builds random texts with stop words, in memory, in runs, renumbered and merged without some documents, and compares
// the positions of all terms with the tokens of the texts.
func TestPositions(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	words := strings.Fields("a the loom weft of 織物 тканье warp red α ткань נול ")
	var lines strings.Builder
	analyzer, err := analyze.New(analyze.Settings{StopWords: []string{"the", "of"}, CJK: analyze.CJKBigrams})
	if err != nil {
		t.Fatal(err)
	}
	const docs = 900
	want := map[string]map[uint32][]uint32{}
	tokens := analyzer.Tokenizer()
	for d := range uint32(docs) {
		var text []string
		for range r.IntN(60) {
			text = append(text, words[min(r.IntN(len(words)), r.IntN(len(words)))])
		}
		if d == 100 {
			text = slices.Repeat([]string{"loom", "x"}, 40000)
		}
		line := strings.Join(text, " ")
		fmt.Fprintf(&lines, "%d\t%s\n", d, line)
		for token := range tokens.Tokens([]byte(line)) {
			term := string(token.Term)
			if want[term] == nil {
				want[term] = map[uint32][]uint32{}
			}
			want[term][d] = append(want[term][d], token.Position)
		}
	}
	open := func(path string) *hdl.File {
		f, err := hdl.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if err := f.Verify(context.Background()); err != nil {
			t.Fatal(err)
		}
		return f
	}
	check := func(name string, f *hdl.File, number func(uint32) uint32) {
		got := positionsOf(t, f)
		for term, list := range want {
			moved := map[uint32][]uint32{}
			for d, p := range list {
				moved[number(d)] = p
			}
			if !maps.EqualFunc(got[term], moved, slices.Equal) {
				t.Errorf("%s: term %q has other positions", name, term)
			}
		}
	}
	same := func(d uint32) uint32 { return d }
	opt := DefaultOptions()
	opt.Format, opt.StopWords, opt.Positions, opt.Stdin = Text, []string{"the", "of"}, true, nil
	build := func(name string, opt Options) *hdl.File {
		path := filepath.Join(t.TempDir(), name+".hdl")
		opt.Stdin = strings.NewReader(lines.String())
		if _, err := Build(context.Background(), path, []string{"-"}, opt); err != nil {
			t.Fatal(err)
		}
		return open(path)
	}
	whole := build("whole", opt)
	check("whole", whole, same)
	small := opt
	small.MemoryLimit = 256 << 10
	check("runs", build("runs", small), same)
	random := opt
	random.Renumber = RenumberRandom
	order := permutation(docs)
	ids := make([]uint32, docs)
	for id, d := range order {
		ids[d] = uint32(id)
	}
	check("renumbered", build("renumbered", random), func(d uint32) uint32 { return ids[d] })

	parts := []merge.Part{{File: whole, First: 50, End: docs}, {File: whole, First: 0, End: 50}}
	path := filepath.Join(t.TempDir(), "merged.hdl")
	if err := merge.File(context.Background(), parts, func(m hdl.Meta) (*hdl.Writer, error) { return hdl.Create(path, m) }); err != nil {
		t.Fatal(err)
	}
	check("merged", open(path), func(d uint32) uint32 { return (d + docs - 50) % docs })
}

// TestPositionsRefused has inputs without positions.
func TestPositionsRefused(t *testing.T) {
	opt := DefaultOptions()
	opt.Positions, opt.Stdin, opt.Format = true, strings.NewReader(`{"id":"a","vector":{"x":1}}`), JSONL
	if _, err := Build(context.Background(), filepath.Join(t.TempDir(), "x.hdl"), []string{"-"}, opt); err == nil || !strings.Contains(err.Error(), "no positions") {
		t.Errorf("vectors: %v", err)
	}
	opt.Impacts, opt.Stdin, opt.Format = 8, strings.NewReader("a\tb\n"), Text
	if _, err := Build(context.Background(), filepath.Join(t.TempDir(), "x.hdl"), []string{"-"}, opt); err == nil || !strings.Contains(err.Error(), "positions need frequencies") {
		t.Errorf("impacts: %v", err)
	}
}
