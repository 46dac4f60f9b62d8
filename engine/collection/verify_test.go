package collection

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/collection/attributes"
	"heddle/engine/file/container"
	"heddle/engine/index/build"
)

// jsonLines adds documents to a collection with the attribute year, which is the length of the text.
func jsonLines(w *Writer, docs []document) error {
	opt := options(nil)
	text := ""
	for _, d := range docs {
		text += `{"id":"` + d.name + `","text":"` + d.text + `","year":` + string(rune('0'+len(d.text)%10)) + "}\n"
	}
	opt.Format, opt.Stdin = build.JSONL, strings.NewReader(text)
	_, err := w.Add(context.Background(), []string{"-"}, opt)
	return err
}

// withYears makes a collection of two segments with attributes and deleted documents.
func withYears(t *testing.T, dir string) *Writer {
	t.Helper()
	must(t, Create(t.Context(), dir, options(nil), attributes.Column{Name: "year", Type: "int"}))
	w, err := Open(dir, Options{Creator: "test"})
	must(t, err)
	t.Cleanup(func() { w.Close() })
	must(t, jsonLines(w, []document{{"a", "red loom"}, {"b", "blue"}, {"c", "green"}}))
	must(t, jsonLines(w, []document{{"d", "red weft"}, {"b", "grey"}}))
	return w
}

// TestVerify: a good collection passes. In each file each changed block of bytes, a truncation, more
// bytes and the absence are errors that name the file.
func TestVerify(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	w := withYears(t, dir)
	m, err := Verify(t.Context(), dir)
	must(t, err)
	if m.Live() != 4 || m.Epoch != w.Manifest().Epoch {
		t.Errorf("manifest %+v", m)
	}
	must(t, w.Close()) // Windows changes no file that is mapped
	for name := range m.files() {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		must(t, err)
		wrong := map[string][]byte{"no bytes": {}, "less": data[:len(data)-1], "more": append(slices.Clone(data), 0)}
		for _, at := range []int{0, len(data) / 3, len(data) / 2, len(data) - 1} { // padding, too
			bad := slices.Clone(data)
			bad[at] ^= 4
			wrong["byte "+string(rune('0'+at%10))] = bad
		}
		for kind, bad := range wrong {
			must(t, os.WriteFile(path, bad, 0o600))
			if _, err := Verify(t.Context(), dir); !errors.Is(err, container.ErrCorrupt) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s with %s: %v", name, kind, err)
			}
		}
		must(t, os.Remove(path))
		if _, err := Verify(t.Context(), dir); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		must(t, os.WriteFile(path, data, 0o600))
	}
	_, err = Verify(t.Context(), dir)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
}

// TestVerifyContent: files that fit their checksums, but not each other, are found.
func TestVerifyContent(t *testing.T) {
	for want, change := range map[string]func(m *Manifest){
		"settings":                  func(m *Manifest) { m.Settings.StopWords = []string{"the"} },
		"length":                    func(m *Manifest) { m.Segments[1].Length++; m.total() },
		`is in 00000005.hdl too`:    func(m *Manifest) { m.Segments[0].Deleted = nil },
		"it does not find document": func(m *Manifest) { m.Segments[1].Keys, m.Segments[2].Keys = m.Segments[2].Keys, m.Segments[1].Keys },
	} {
		t.Run(want, func(t *testing.T) {
			dir, w := create(t, options(nil))
			for _, docs := range [][]document{{{"a", "red"}, {"b", "blue"}}, {{"b", "grey"}, {"c", "green"}}, {{"x", "pink"}, {"y", "white"}}} {
				_, err := add(w, docs)
				must(t, err)
			}
			m := *w.Manifest()
			m.Segments = slices.Clone(m.Segments)
			change(&m)
			must(t, m.write(container.OSDisk{}, dir))
			if _, err := Verify(t.Context(), dir); !errors.Is(err, container.ErrCorrupt) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}

// TestVerifyBeside: files that a writer removes meanwhile are no damage.
func TestVerifyBeside(t *testing.T) {
	dir, w := create(t, options(nil))
	done := make(chan error, 1)
	go func() {
		for range 20 {
			if _, err := add(w, []document{{"a", "red"}, {"b", "blue"}}); err != nil {
				done <- err
				return
			}
			if err := w.Merge(context.Background()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		_, err := Verify(t.Context(), dir)
		must(t, err)
		select {
		case err := <-done:
			must(t, err)
			return
		default:
		}
	}
}
