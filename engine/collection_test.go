package engine

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/collection"
)

// openCollection makes a collection with an attribute.
func openCollection(t *testing.T, e *Engine, dir string) *Collection {
	t.Helper()
	c, err := e.OpenCollection(t.Context(), dir, CollectionOptions{Create: &CollectionSettings{Store: "text", Attributes: []Attribute{{Name: "year", Type: "int"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// onThread returns an engine in pure Go with one thread.
func onThread(t *testing.T) *Engine {
	t.Helper()
	e, err := New(t.Context(), Options{Backend: "host", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// TestCollectionModel: after each of many changes the answers are the answers of a map of the documents.
func TestCollectionModel(t *testing.T) {
	e := onThread(t)
	rapid.Check(t, func(r *rapid.T) {
		c := openCollection(t, e, filepath.Join(t.TempDir(), "c"))
		defer c.Close()
		model := map[string]int{} // year by name
		for range rapid.IntRange(1, 8).Draw(r, "changes") {
			var err error
			switch rapid.IntRange(0, 4).Draw(r, "change") {
			case 0:
				name := fmt.Sprint("n", rapid.IntRange(0, 9).Draw(r, "gone"))
				var done Change
				done, err = c.Delete(t.Context(), name)
				if _, had := model[name]; had != (done.Deleted == 1) || had == (done.Missing == 1) {
					r.Fatalf("%s: %+v, want %v", name, done, had)
				}
				delete(model, name)
			case 1:
				year := rapid.IntRange(0, 9).Draw(r, "year")
				var done Change
				done, err = c.DeleteMatches(t.Context(), Query{Text: "loom", Filter: &Filter{Where: fmt.Sprintf("year = %d", year)}})
				before := len(model)
				for name := range model {
					if model[name] == year {
						delete(model, name)
					}
				}
				if int(done.Deleted) != before-len(model) {
					r.Fatalf("%d deleted, want %d", done.Deleted, before-len(model))
				}
			case 2:
				_, err = c.Merge(t.Context())
			default:
				var docs []Document
				for range rapid.IntRange(1, 6).Draw(r, "documents") {
					name, year := fmt.Sprint("n", rapid.IntRange(0, 9).Draw(r, "name")), rapid.IntRange(0, 9).Draw(r, "year")
					docs = append(docs, Document{Name: name, Text: "loom", Members: map[string]any{"year": year}})
					model[name] = year
				}
				_, err = c.Add(t.Context(), slices.Values(docs))
			}
			if err != nil {
				r.Fatal(err)
			}
			for _, year := range []int{0, 5, 10} {
				var want []string
				for name, y := range model {
					if y < year {
						want = append(want, name)
					}
				}
				h, err := c.Search(t.Context(), Query{Text: "loom", Names: true, Filter: &Filter{Where: fmt.Sprintf("year < %d", year)}})
				if err != nil {
					r.Fatal(err)
				}
				slices.Sort(h.Names)
				if slices.Sort(want); !slices.Equal(h.Names, want) || h.Count != uint64(len(want)) {
					r.Fatalf("year < %d: %v, want %v", year, h.Names, want)
				}
			}
		}
		if err := c.Verify(t.Context()); err != nil {
			r.Fatal(err)
		}
	})
}

// TestCollectionErrors: wrong documents change nothing, a second process is refused, and a closed collection answers
// no query.
func TestCollectionErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	c := openCollection(t, onThread(t), dir)
	add := func(docs ...Document) error {
		_, err := c.Add(t.Context(), slices.Values(docs))
		return err
	}
	if err := add(Document{Name: "a", Text: "loom"}); err != nil {
		t.Fatal(err)
	}
	for want, docs := range map[string][]Document{
		"unsupported value": {{Name: "b", Text: "loom"}, {Name: "c", Members: map[string]any{"year": math.Inf(1)}}},
		`"year"`:            {{Name: "b", Text: "loom", Members: map[string]any{"year": "soon"}}},
		"have no name":      {{Text: "loom"}},
		"no UTF-8":          {{Name: "b", Text: "loom"}, {Name: "c", Text: "loom \xff"}},
	} {
		if err := add(docs...); CodeOf(err) != InvalidOption || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	count := func() uint64 {
		h, err := c.Search(t.Context(), Query{Text: "loom", CountOnly: true})
		if err != nil {
			t.Error(err)
		}
		return h.Count
	}
	if n := count(); n != 1 {
		t.Errorf("%d documents", n)
	}
	if _, err := collection.Open(dir, collection.Options{}); !errors.Is(err, collection.ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	for _, q := range []Query{{K: 1}, {}, {Text: "loom", CountOnly: true}} {
		if _, err := c.DeleteMatches(t.Context(), q); CodeOf(err) != InvalidOption {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if _, err := c.Search(t.Context(), Query{Text: "loom", Override: &Override{}}); CodeOf(err) != Unsupported {
		t.Errorf("Override: %v", err)
	}
	s, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Delete(t.Context(), "a"); err != nil || count() != 0 {
		t.Errorf("delete: %v", err)
	}
	if h, err := s.Search(t.Context(), Query{Text: "loom"}); err != nil || h.Count != 1 || s.Info().Documents != 1 {
		t.Errorf("the snapshot has %d documents, %v", h.Count, err)
	}
	s.Close()
	if _, err := s.Search(t.Context(), Query{Text: "loom"}); CodeOf(err) != Closed {
		t.Errorf("a closed snapshot: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), Query{Text: "loom"}); err == nil {
		t.Error("a closed collection answers")
	}
	e := onThread(t)
	if _, err := e.OpenCollection(t.Context(), t.TempDir(), CollectionOptions{}); CodeOf(err) != NotFound {
		t.Errorf("no collection: %v", err)
	}
	if _, err := e.OpenCollection(t.Context(), t.TempDir(), CollectionOptions{Create: &CollectionSettings{Stem: "klingon"}}); CodeOf(err) != InvalidOption {
		t.Errorf("an unknown stemmer: %v", err)
	}
}

// TestCollectionStream: an addition asks for its documents one by one, and stops at a document that cannot be.
func TestCollectionStream(t *testing.T) {
	c := openCollection(t, onThread(t), filepath.Join(t.TempDir(), "c"))
	asked := 0
	var docs iter.Seq[Document] = func(yield func(Document) bool) {
		for ; asked < 1<<20; asked++ {
			if !yield(Document{Name: fmt.Sprint(asked), Members: map[string]any{"year": func() {}}}) {
				return
			}
		}
	}
	if _, err := c.Add(t.Context(), docs); CodeOf(err) != InvalidOption || asked > 1 {
		t.Errorf("%v after %d documents", err, asked)
	}
}

// TestCollectionUpdate: a change keeps the other members of a document, with its text and attributes; wrong changes
// change nothing.
func TestCollectionUpdate(t *testing.T) {
	e := onThread(t)
	c, err := e.OpenCollection(t.Context(), filepath.Join(t.TempDir(), "c"), CollectionOptions{
		Create: &CollectionSettings{Store: "source", Attributes: []Attribute{{Name: "year", Type: "int"}, {Name: "by.name", Type: "string"}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.AddLines(t.Context(), strings.NewReader(`{"id":"a","title":"red","text":"loom","year":1,"by":{"name":"x","age":12345678901234567890}}
{"id":"b","text":"loom","year":2}
`)); err != nil {
		t.Fatal(err)
	}
	check := func(where, want string) {
		t.Helper()
		h, err := c.Search(t.Context(), Query{Text: "loom OR weft", K: 5, Names: true, Filter: &Filter{Where: where}})
		if got := fmt.Sprint(h.Names); err != nil || got != want {
			t.Errorf("%s: %s, want %s, %v", where, got, want, err)
		}
	}
	done, err := c.UpdateLines(t.Context(), strings.NewReader(`{"id":"a","year":3,"by":{"name":"z"}}
{"id":"none","year":3}
`))
	if err != nil || done.Added != 1 || done.Replaced != 1 || done.Missing != 1 || done.Documents != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	check(`year = 3 AND "by.name" = 'z'`, "[a]")
	if _, err := c.Update(t.Context(), slices.Values([]Document{{Name: "b", Text: "weft", Members: map[string]any{"year": nil}}})); err != nil {
		t.Error(err)
	}
	check("year IS NULL", "[b]")
	if _, err := c.Merge(t.Context()); err != nil {
		t.Error(err)
	}
	s, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	source, err := s.Segments()[0].File().Document(0)
	if want := `{"by":{"age":12345678901234567890,"name":"z"},"id":"a","text":"loom","title":"red","year":3}`; err != nil || source != want {
		t.Errorf("%s, want %s, %v", source, want, err)
	}
	for _, lines := range []string{"{\"id\":\"a\",\"year\":1}\n{\"id\":\"a\",\"year\":2}", `{"year":1}`, `[]`, `{"id":"a","year":"soon"}`, `{"id":"a","text":null,"title":null}`} {
		if _, err := c.UpdateLines(t.Context(), strings.NewReader(lines)); CodeOf(err) != InvalidOption {
			t.Errorf("%s: %v", lines, err)
		}
	}
	check("year = 3", "[a]")
	texts := openCollection(t, e, filepath.Join(t.TempDir(), "texts"))
	if _, err := texts.UpdateLines(t.Context(), strings.NewReader(`{"id":"a"}`)); CodeOf(err) != Unsupported {
		t.Errorf("without sources: %v", err)
	}
	if done, err := c.Backup(t.Context(), filepath.Join(t.TempDir(), "backup")); err != nil || done.Documents != 2 {
		t.Error(done, err)
	}
}

// TestCollectionMerges: small segments are joined in the background while one other merge runs, and wait while two do.
func TestCollectionMerges(t *testing.T) {
	c := openCollection(t, onThread(t), filepath.Join(t.TempDir(), "c"))
	for running := 1; running <= mostMerges; running++ {
		c.mu.Lock()
		c.merging = running
		c.mu.Unlock()
		for i := range 12 {
			if _, err := c.Add(t.Context(), slices.Values([]Document{{Name: fmt.Sprint(running, " ", i), Text: "loom"}})); err != nil {
				t.Fatal(err)
			}
		}
		c.merges.Wait()
		now, err := c.Refresh(t.Context())
		if err != nil || (now.Segments < 12) != (running < mostMerges) {
			t.Errorf("%d merges: %d segments, %v", running, now.Segments, err)
		}
	}
}

// TestCollectionFilter: filters that no part can have are errors.
func TestCollectionFilter(t *testing.T) {
	c := openCollection(t, onThread(t), t.TempDir()+"/c")
	deep := &Filter{Where: "year = 1"}
	for range 100 {
		deep = &Filter{And: []*Filter{deep}}
	}
	for name, f := range map[string]*Filter{"nil": {And: []*Filter{nil}}, "deep": deep, "many": {And: make([]*Filter, 300)}} {
		if _, err := c.Search(t.Context(), Query{Text: "loom", K: 1, Filter: f}); CodeOf(err) != InvalidQuery {
			t.Errorf("%s: %v", name, err)
		}
	}
}
