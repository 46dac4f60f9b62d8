package collection

import (
	"path/filepath"
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
