package collection

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heddle/engine/collection/attributes"
	"heddle/engine/file/container/containertest"
)

// states are the documents that a collection may have behind a power cut.
type states struct {
	t     *testing.T
	valid [][]string
}

// check opens a collection after a power cut: it is whole, and a writer goes on.
func (s *states) check(dir string) {
	s.t.Helper()
	dir = filepath.Join(dir, "books")
	if _, err := Verify(s.t.Context(), dir); err != nil {
		s.t.Fatal("behind a power cut: ", err)
	}
	if got := content(s.t, dir); !slices.ContainsFunc(s.valid, func(v []string) bool { return slices.Equal(v, got) }) {
		s.t.Fatalf("behind a power cut: documents %v, want one of %v", got, s.valid)
	}
	w, err := Open(dir, Options{Creator: "test"})
	must(s.t, err)
	tidy(s.t, w)
	must(s.t, w.Close())
}

// TestPowerCuts cuts the power behind each operation of each kind of change: the collection has the state
// from before or after it, and after it if the change has succeeded. Then each Sync and SyncDir fails
// once; the next writer opens what is left, with the same cuts, and goes on.
func TestPowerCuts(t *testing.T) {
	start := []string{"a", "c", "d", "b"}
	for name, change := range map[string]struct {
		run  func(w *Writer) error
		want []string
	}{
		"add":    {func(w *Writer) error { return jsonLines(w, []document{{"c", "white"}, {"e", "black"}}) }, []string{"a", "d", "b", "c", "e"}},
		"delete": {func(w *Writer) error { _, err := w.Delete(t.Context(), each([]string{"a", "d"})); return err }, []string{"c", "b"}},
		"merge":  {func(w *Writer) error { return w.Merge(t.Context()) }, start},
	} {
		t.Run(name, func(t *testing.T) {
			from := filepath.Join(t.TempDir(), "books")
			must(t, withYears(t, from).Close())
			for fail := 0; ; fail++ {
				root := t.TempDir()
				dir := filepath.Join(root, "books")
				must(t, os.CopyFS(dir, os.DirFS(from)))
				s := &states{t, [][]string{start, change.want}}
				p := containertest.NewPower(t, root, s.check)
				p.Fail = fail
				if err := changeOn(p, dir, change.run); fail > 0 {
					if fail > p.Syncs() {
						return
					}
					if !errors.Is(err, containertest.ErrFault) {
						t.Fatalf("sync %d failed, error %v", fail, err)
					}
					s.valid = append(s.valid, append(content(t, dir), "z"))
					must(t, changeOn(p, dir, func(w *Writer) error {
						p.Quiet = true // as above
						return jsonLines(w, []document{{"z", "last"}})
					}))
				} else {
					must(t, err)
				}
				s.valid = s.valid[len(s.valid)-1:]
				p.Renewed()
			}
		})
	}
}

// changeOn runs a change by a writer that ends with it.
func changeOn(p *containertest.Power, dir string, run func(*Writer) error) error {
	w, err := openOn(p, dir, Options{Creator: "test"})
	if err != nil {
		return err
	}
	return errors.Join(run(w), w.Close())
}

// TestCreateCut: a collection that Create has made outlives a power cut, and an incomplete one can be
// created again.
func TestCreateCut(t *testing.T) {
	root, made := t.TempDir(), false
	year := attributes.Column{Name: "year", Type: "int"}
	p := containertest.NewPower(t, root, func(dir string) {
		dir = filepath.Join(dir, "books")
		if _, err := Read(dir); !made && errors.Is(err, os.ErrNotExist) {
			must(t, Create(t.Context(), dir, options(nil), year))
		}
		_, err := Verify(t.Context(), dir)
		must(t, err)
	})
	must(t, createOn(t.Context(), p, filepath.Join(root, "books"), options(nil), year))
	made = true
	p.Renewed()
}
