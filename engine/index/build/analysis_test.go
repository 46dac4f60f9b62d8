package build

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
)

// TestAnalysisIsStored: every input stores the analysis for its queries, inverted lists
// too, whose terms stay unchanged.
func TestAnalysisIsStored(t *testing.T) {
	docs := []text{{"a", "Cafés THE running"}, {"b", "ÉTÉ"}}
	opt := DefaultOptions()
	opt.Fold, opt.Stem, opt.StopWords, opt.Lengths = true, analyze.StemPorter, []string{"thé"}, hdl.LengthsLucene
	set := analyze.Settings{Rules: analyze.Rules, CJK: analyze.CJKBigrams, Fold: true, Stemmer: analyze.StemPorter, StopWords: []string{"the"}}
	c := invert(t, docs, set)
	if want := []string{"cafe", "et", "run"}; !slices.Equal(slices.Sorted(maps.Keys(c.lists)), want) {
		t.Fatalf("the oracle has the terms %v", c.lists)
	}
	inputs := map[string][]byte{"a.tsv": asText(docs), "b.ciff": asCIFF(c, []string{"cafe", "et", "run"})}
	for suffix, content := range asPISA(c) {
		inputs["c"+suffix] = content
	}
	for _, path := range save(t, inputs) {
		if !slices.Contains([]string{".tsv", ".ciff", ".docs"}, filepath.Ext(path)) {
			continue
		}
		out, _, err := buildAt(t, opt, path)
		if err != nil {
			t.Fatal(err)
		}
		if m := metaOf(t, out); !reflect.DeepEqual(m.Analysis, set) || m.Lengths != hdl.LengthsLucene {
			t.Errorf("%s: %+v", path, m)
		}
		if got := load(t, out); got.String() != c.String() {
			t.Errorf("%s: index\n%s\nwant\n%s", path, got, c)
		}
	}
}
