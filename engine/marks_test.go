package engine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/index/build"
)

// TestFieldMarks: of an index with fields, the documents in which one word, phrase or window of a field matches have marks, and no others.
func TestFieldMarks(t *testing.T) {
	e, dir := onThread(t), t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		docs := drawFielded(t)
		for _, d := range docs {
			for _, f := range []string{"title", "body"} {
				d[f] = append(d[f], rapid.SliceOfN(rapid.SampledFrom([]string{"織物", "機", "x-y", "--", "été", "loom", "red"}), 0, 4).Draw(t, f)...)
			}
		}
		opt := build.DefaultOptions()
		opt.Format, opt.Fields, opt.Positions, opt.Stdin = build.JSONL, []string{"title", "body"}, true, strings.NewReader(docs.lines())
		opt.Store = rapid.SampledFrom([]string{"text", "source"}).Draw(t, "store")
		if rapid.Bool().Draw(t, "shuffled") {
			opt.Fields = []string{"body", "title"}
		}
		path := filepath.Join(dir, "x.hdl")
		if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
			t.Fatal(err)
		}
		x, err := e.OpenIndex(t.Context(), path, IndexOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		for range 5 {
			word := rapid.SampledFrom([]string{"loom", "red", "weft", "re*", "織物", "機", "x-y"})
			leaf := fmt.Sprintf(rapid.SampledFrom([]string{"%s%.0s", `"%s %s"`, "NEAR/4(%s %s)", "ORDERED/3(%s %s)"}).Draw(t, "form"), word.Draw(t, "word"), word.Draw(t, "word"))
			text := rapid.SampledFrom([]string{"", "title:", "body:"}).Draw(t, "field") + leaf
			want, err := x.Search(t.Context(), Query{Text: text})
			if err != nil {
				t.Fatal(err)
			}
			if marked := marks(t, x, text, len(docs)); !slices.Equal(marked, want.Docs) && !strings.HasSuffix(text, "x-y") { // an AND of two words, which may have marks alone
				t.Fatalf("%s in\n%s: marks in the snippets of %v, want %v", text, docs.lines(), marked, want.Docs)
			}
		}
	})
}
