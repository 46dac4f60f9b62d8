package collection

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/collection/attributes"
	"heddle/engine/index/build"
)

// TestAttributesMemory: the limit of an addition holds for its attribute table.
func TestAttributesMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	must(t, Create(t.Context(), dir, build.DefaultOptions(), attributes.Column{Name: "year", Type: "int"}))
	w, err := Open(dir, Options{Creator: "test"})
	must(t, err)
	defer w.Close()
	if got := w.tableOptions(&build.Options{MemoryLimit: 64 << 20}); got.Memory != 32<<20 || len(got.Declared) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestAttributesBeside: documents can be deleted while their attributes are merged; the race detector
// watches.
func TestAttributesBeside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	must(t, Create(t.Context(), dir, build.DefaultOptions(), attributes.Column{Name: "year", Type: "int"}))
	w, err := Open(dir, Options{Creator: "test"})
	must(t, err)
	defer w.Close()
	var want model
	for i := range 40 {
		opt := build.DefaultOptions()
		opt.Format, opt.Creator = build.JSONL, "test"
		opt.Stdin = strings.NewReader(fmt.Sprintf(`{"id":"n%d","text":"red","year":%d}`+"\n"+`{"id":"m%d","text":"blue","year":1}`+"\n", i, i, i))
		_, err := w.Add(t.Context(), []string{"-"}, opt)
		must(t, err)
		want = want.add([]document{{fmt.Sprint("n", i), "red"}})
		if i%10 == 9 {
			merged := make(chan error, 1)
			go func() { merged <- w.Merge(t.Context()) }()
			for n := i - 9; n <= i; n++ {
				_, err := w.Delete(t.Context(), each([]string{fmt.Sprint("m", n)}))
				must(t, err)
			}
			must(t, <-merged)
		}
	}
	must(t, w.Merge(t.Context()))
	if got := content(t, dir); !slices.Equal(got, namesOf(want)) {
		t.Errorf("documents %v, want %v", got, namesOf(want))
	}
	tidy(t, w)
}
