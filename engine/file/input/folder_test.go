package input_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/file/input"
)

// TestExpand gives the files of folders in the order of their names.
func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"in/b/2", "in/b/1", "in/b.x", "in/a", "in/.hidden", "in/.git/x", "none/.x", "behind"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "behind"), filepath.Join(dir, "in", "link")); err != nil {
		t.Log(err)
	}
	t.Chdir(dir)
	got, err := input.Expand([]string{"behind", "in", "-", "absent"}, func(path string) bool { return !strings.HasSuffix(path, ".x") })
	want := []string{"behind", filepath.Join("in", "a"), filepath.Join("in", "b", "1"), filepath.Join("in", "b", "2"), "-", "absent"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, error %v, want %q", got, err, want)
	}
	if _, err := input.Expand([]string{"none"}, func(string) bool { return true }); !errors.Is(err, input.ErrNoInputs) || err.Error() != "the folder none has no input files" {
		t.Errorf("error %v", err)
	}
}
