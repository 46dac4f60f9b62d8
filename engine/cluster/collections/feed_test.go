package collections

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/rs/zerolog"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster"
	"heddle/engine/collection"
	"heddle/engine/collection/attributes"
	"heddle/engine/index/build"
)

// fixture is a set of one collection with a coordinator.
type fixture struct {
	*Set
	dir string
	c   *cluster.Coordinator
}

func open(t testing.TB) *fixture {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "news")
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions(), attributes.Column{Name: "year", Type: "int"}))
	set := New(map[string]string{"news": dir}, "test", zerolog.New(failing{t}))
	must(t, set.Load(t.Context(), newEngine(t)))
	t.Cleanup(func() { set.Close() })
	return &fixture{set, dir, set.Coordinator(cluster.Options{})}
}

// failing fails a test for each message.
type failing struct{ testing.TB }

func (f failing) Write(p []byte) (int, error) {
	f.Error(string(p))
	return len(p), nil
}

// count counts the documents with a word.
func (f *fixture) count(t testing.TB, word string) uint64 {
	t.Helper()
	h, _, err := f.c.Search(t.Context(), "news", engine.Query{Text: word, CountOnly: true, Filter: &engine.Filter{Where: "year >= 0"}}, api.Ask{})
	must(t, err)
	return h.Count
}

// TestAdd: additions of many callers at the same time are in the answers when they return, and a wrong
// one fails alone. Merges in the background keep the number of segments small.
func TestAdd(t *testing.T) {
	f := open(t)
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			for i := range 3 {
				word := fmt.Sprintf("w%dx%d", caller, i)
				r, err := f.Add(t.Context(), "news", fmt.Appendf(nil, "{\"id\":\"%s\",\"text\":\"%s all\",\"year\":%d}\n\n{\"id\":\"%s-2\",\"text\":\"all\",\"year\":1}", word, word, i, word))
				if err != nil || r.GetAdded() != 2 || f.count(t, word) != 1 {
					t.Errorf("%s: %v, %v", word, r, err)
				}
				if _, err := f.Add(t.Context(), "news", []byte("{\"id\":\"x\",\"text\":\"wrong\",\"year\":1}\n{\"id\":\"y\",\"text\":\"x\",\"year\":\"soon\"}")); engine.CodeOf(err) != engine.InvalidOption || !strings.Contains(err.Error(), "-:2:") {
					t.Errorf("a wrong value: %v", err)
				}
			}
		})
	}
	callers.Wait()
	if n := f.count(t, "all"); n != 48 || f.count(t, "wrong") != 0 {
		t.Errorf("%d documents", n)
	}
	r, err := f.Delete(t.Context(), "news", []string{"w0x0", "w0x0-2", "nobody"})
	if err != nil || r.GetDeleted() != 2 || r.GetMissing() != 1 || r.GetDocuments() != 46 || f.count(t, "all") != 46 {
		t.Errorf("delete: %v, %v", r, err)
	}
	if r, err = f.Merge(t.Context(), "news"); err != nil || f.count(t, "all") != 46 {
		t.Errorf("merge: %v, %v", r, err)
	}
	must(t, f.Close())
	if m, err := collection.Read(f.dir); err != nil || m.Live() != 46 || len(m.Segments) != 1 {
		t.Errorf("%v, %v", m, err)
	}
}

// TestErrors: a collection that another process changes, and an unknown one, cannot be changed.
func TestErrors(t *testing.T) {
	f := open(t)
	if _, err := f.Add(t.Context(), "none", nil); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("unknown: %v", err)
	}
	w, err := collection.Open(f.dir, collection.Options{Creator: "other"})
	must(t, err)
	line := []byte(`{"id":"a","text":"x"}`)
	if _, err := f.Add(t.Context(), "news", line); engine.CodeOf(err) != engine.Closed {
		t.Errorf("locked: %v", err)
	}
	must(t, w.Close())
	if _, err := f.Add(t.Context(), "news", line); err != nil {
		t.Error(err)
	}
	for _, line := range []string{`{"text":"x"}`, `{"id":"","text":"x"}`} {
		if _, err := f.Add(t.Context(), "news", []byte(line)); engine.CodeOf(err) != engine.InvalidOption {
			t.Errorf("no name: %v", err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Add(ended, "news", line); err != nil && engine.CodeOf(err) != engine.Canceled {
		t.Errorf("a client that has left: %v", err)
	}
}

// TestLines adds bodies in several encodings and with several ends of lines at the same time, so that
// they share segments. Each keeps its own documents, and a compressed one is refused alone.
func TestLines(t *testing.T) {
	f := open(t)
	utf16 := func(text string) []byte {
		out := []byte("\xfe\xff")
		for _, u := range utf16.Encode([]rune(text)) {
			out = binary.BigEndian.AppendUint16(out, u)
		}
		return out
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(bytes.Repeat([]byte(`{"id":"z","text":"all zipped"}`+"\n"), 1e6))
	must(t, errors.Join(err, z.Close()))
	type body struct {
		lines []byte
		added uint64
		wrong string // part of the error
	}
	var callers sync.WaitGroup
	for name, b := range map[string]body{
		"LF":    {lines: []byte("{\"id\":\"a\",\r\"text\":\"all\"}\n"), added: 1},
		"CR LF": {lines: []byte("{\"id\":\"b1\",\"text\":\"all\"}\r\n\r\n \n{\"id\":\"b2\",\"text\":\"all\"}\r\n"), added: 2},
		"CR":    {lines: []byte("{\"id\":\"c1\",\"text\":\"all\"}\r\r{\"id\":\"c2\",\"text\":\"all\"}\r"), added: 2},
		"mark":  {lines: []byte("\ufeff{\"id\":\"d\",\"text\":\"all\"}"), added: 1},
		"UTF16": {lines: utf16("{\"id\":\"e1\",\"text\":\"all 漢\"}\n{\"id\":\"e2\",\"text\":\"all 𝄞\"}"), added: 2},
		"gzip":  {lines: zipped.Bytes(), wrong: "-: byte 0: gzip data: unpack it first"},
		"deep":  {lines: []byte("\n{\"id\":\"g\",\"text\":\"all\",\"x\":" + strings.Repeat("[", 20_000)), wrong: "-:2: incorrect JSON: byte 10027 is '[': values are nested at most 10000 deep"},
	} {
		callers.Go(func() {
			r, err := f.Add(t.Context(), "news", b.lines)
			switch {
			case b.wrong == "" && (err != nil || r.GetAdded() != b.added):
				t.Errorf("%s: %v, %v", name, r, err)
			case b.wrong != "" && (engine.CodeOf(err) != engine.InvalidOption || !strings.Contains(err.Error(), b.wrong)):
				t.Errorf("%s: %v, %v", name, r, err)
			}
		})
	}
	callers.Wait()
	h, _, err := f.c.Search(t.Context(), "news", engine.Query{Text: "all"}, api.Ask{Names: true})
	must(t, err)
	slices.Sort(h.Names)
	if got := fmt.Sprint(h.Names); got != "[a b1 b2 c1 c2 d e1 e2]" {
		t.Error(got)
	}
}
