package build

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/index/analyze"
	"heddle/engine/plan/testneeds"
)

// tree writes files into folders.
func tree(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFolder reads all files of a folder in the order of their names.
func TestFolder(t *testing.T) {
	files := map[string][]byte{
		"in/b/2.jsonl": []byte(`{"id":"c","text":"three"}`), "in/b.tsv": []byte("d\tfour\n"), "in/a": zip([]byte("a\tone\nb\ttwo\n")),
		"in/.hidden": []byte("x\thidden\n"), "in/.git/x": []byte("x\thidden\n"), "in/old.hdl": {0}, "in/t.hdb.gz": {0}, "behind.tsv": []byte("z\tlast\n"),
	}
	pisa := invert(t, []text{{"p", "five"}}, analyze.Settings{})
	for suffix, content := range asPISA(pisa) {
		files["in/c"+suffix] = content
	}
	dir := tree(t, files)
	testneeds.Link(t, filepath.Join(dir, "behind.tsv"), filepath.Join(dir, "in", "link"))
	got, _ := mustBuild(t, DefaultOptions(), filepath.Join(dir, "in"), filepath.Join(dir, "behind.tsv"))
	if want := []string{"a", "b", "c", "d", "p", "z"}; !slices.Equal(got.names, want) {
		t.Errorf("documents %q, want %q", got.names, want)
	}
	empty := tree(t, map[string][]byte{".x": nil})
	if _, _, err := buildAt(t, DefaultOptions(), empty); err == nil || !strings.Contains(err.Error(), "has no input files") {
		t.Errorf("an empty folder: error %v", err)
	}
}

// TestDuplicatesInPasses has more names than one pass takes, and finds the first repeated one.
func TestDuplicatesInPasses(t *testing.T) {
	b, err := newBuilder(t.Context(), t.TempDir(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	const docs, twice = 1 << 18, 20 // three passes
	for i := range docs {
		name := strconv.AppendInt(nil, int64(i), 10)
		if i >= docs-twice {
			name = strconv.AppendInt(nil, int64(i-docs+twice), 10)
		}
		if err := b.AddDocument(name, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.findDuplicates(); err != nil || b.sum.Duplicates != twice || b.sum.Duplicate.Doc != docs-twice || b.sum.Duplicate.Name != "0" {
		t.Errorf("%d duplicates, first %+v, %v", b.sum.Duplicates, b.sum.Duplicate, err)
	}
}

// TestDuplicates counts repeated names and gives the first, in every format.
func TestDuplicates(t *testing.T) {
	docs := []text{{"a", "x"}, {"b", "y"}, {"c", ""}, {"b", "z"}, {"a", "x"}, {"b", "x"}, {"", "x"}, {"", "x"}}
	pisa := asPISA(invert(t, docs, analyze.Settings{}))
	files := map[string][]byte{"a.tsv": asText(docs), "b.jsonl": asJSONL(docs), "c.ciff": asCIFF(invert(t, docs, analyze.Settings{}), []string{"x", "y", "z"})}
	for suffix, content := range pisa {
		files["d"+suffix] = content
	}
	for _, path := range save(t, files) {
		if !slices.Contains([]string{".tsv", ".jsonl", ".ciff", ".docs"}, filepath.Ext(path)) {
			continue
		}
		_, sum := mustBuild(t, DefaultOptions(), path)
		if sum.Duplicates != 3 || sum.Duplicate.Doc != 3 || sum.Duplicate.Name != "b" {
			t.Errorf("%s: %d duplicates, first %+v", path, sum.Duplicates, sum.Duplicate)
		}
	}
	if _, sum := mustBuild(t, DefaultOptions(), save(t, map[string][]byte{"a.tsv": asText(docs[:3])})...); sum.Duplicates != 0 || sum.Duplicate.Name != "" {
		t.Errorf("no duplicates: %+v", sum)
	}
}

// TestForeignTarget: a build leaves a file of another program as it is, unless forced.
func TestForeignTarget(t *testing.T) {
	in := save(t, map[string][]byte{"a.tsv": []byte("a\tx\n")})
	out := filepath.Join(t.TempDir(), "thesis.txt")
	content := []byte("years of work")
	if err := os.WriteFile(out, content, 0o600); err != nil {
		t.Fatal(err)
	}
	opt := DefaultOptions()
	if _, err := Build(t.Context(), out, in, opt); !errors.Is(err, container.ErrForeign) {
		t.Errorf("error %v", err)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the file became %q, %v", got, err)
	}
	opt.Force = true
	for range 2 { // and then without
		if _, err := Build(t.Context(), out, in, opt); err != nil {
			t.Error(err)
		}
		opt.Force = false
	}
	if st, err := os.Stat(out); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}
