package collections

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster"
	"heddle/engine/collection"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
	"heddle/engine/internal/lists"
)

// newEngine returns an engine in pure Go.
func newEngine(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.New(t.Context(), engine.Options{Backend: "host", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func must(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testSet is a set whose collections a test adds.
type testSet struct{ *Set }

func newSet() testSet { return testSet{New(nil, "test", zerolog.Nop())} }

// Load opens the newest state of a collection.
func (s testSet) Load(ctx context.Context, e *engine.Engine, name, dir string) (*collection.Manifest, error) {
	x := s.all[name]
	if x == nil {
		c, err := s.open(ctx, e, name, dir)
		if err != nil {
			return nil, err
		}
		x = newServed(dir)
		x.Collection, s.all[name] = c, x
	}
	if _, err := x.Collection.Refresh(ctx); err != nil {
		return nil, err
	}
	return collection.Read(dir)
}

// create makes and opens a collection.
func create(t testing.TB) (string, *collection.Writer) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "books")
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions()))
	w, err := collection.Open(dir, collection.Options{Creator: "test"})
	must(t, err)
	t.Cleanup(func() { w.Close() })
	return dir, w
}

// add adds lines of text.
func add(w *collection.Writer, lines []string) error {
	_, err := w.Add(context.Background(), []string{"-"}, build.Options{Format: build.Text, Stdin: strings.NewReader(strings.Join(lines, "\n"))})
	return err
}

// erase deletes documents.
func erase(w *collection.Writer, names []string) error {
	_, err := w.Delete(context.Background(), func(yield func(string, error) bool) {
		for _, n := range names {
			if !yield(n, nil) {
				return
			}
		}
	})
	return err
}

// line draws a document.
func line() *rapid.Generator[string] {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a", "b", "b", "c", "heaven", "heavy", "d", "rare"}), 0, 8)
	return rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("n%02d\t%s", rapid.IntRange(0, 60).Draw(t, "name"), strings.Join(words.Draw(t, "words"), " "))
	})
}

// queries draws queries of every kind.
func queries() *rapid.Generator[engine.Query] {
	return rapid.Custom(func(t *rapid.T) engine.Query {
		q := engine.Query{Text: rapid.SampledFrom([]string{"a", "b c", "a rare", "d rare nowhere", "a AND (b OR c)", "+a heav* -c", "heav*", "haeven~1 rare", "ra~ -b?", "*a*^2 [c TO *]", "+/ra.+|heav.*/ a", "a^2 b", "rare", "nowhere"}).Draw(t, "text")}
		q.Match = rapid.SampledFrom(engine.Matches()).Draw(t, "match")
		q.K = rapid.SampledFrom([]int{0, 1, 3, 100}).Draw(t, "k")
		if q.K == 0 {
			q.Match = min(q.Match, engine.And)
			q.CountOnly = rapid.Bool().Draw(t, "count")
		} else {
			p := bm25.Params{Variant: rapid.SampledFrom(bm25.Variants()).Draw(t, "variant"), K1: 0.9, B: 0.4}
			q.Scoring = &p
		}
		return q
	})
}

// TestAnswers: after random changes a collection gives the names, scores, order and counts of a fresh
// index of its documents, for queries of every kind, before and after merges.
func TestAnswers(t *testing.T) {
	e := newEngine(t)
	rapid.Check(t, func(r *rapid.T) {
		dir, w := create(t)
		set := newSet()
		defer set.Close()
		c := set.Coordinator(cluster.Options{})
		var live []string // in the order of the documents
		remove := func(names ...string) {
			live = slices.DeleteFunc(live, func(l string) bool { return slices.Contains(names, l[:3]) })
		}
		for range rapid.IntRange(1, 5).Draw(r, "changes") {
			lines := rapid.SliceOfN(line(), 1, 30).Draw(r, "lines")
			for _, l := range lines {
				remove(l[:3])
				live = append(live, l)
			}
			must(r, add(w, lines))
			gone := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 60), func(n int) string { return fmt.Sprintf("n%02d", n) }), 0, 15).Draw(r, "gone")
			remove(gone...)
			must(r, erase(w, gone))
			switch rapid.IntRange(0, 5).Draw(r, "merge") {
			case 0:
				must(r, w.Merge(t.Context()))
			case 1:
				must(r, w.Maintain(t.Context()))
			}
			_, err := set.Load(t.Context(), e, "books", dir)
			must(r, err)
		}
		if len(live) == 0 {
			return
		}
		path := filepath.Join(dir, "fresh")
		_, err := build.Build(t.Context(), path, []string{"-"}, build.Options{Format: build.Text, Stdin: strings.NewReader(strings.Join(live, "\n"))})
		must(r, err)
		fresh, err := e.OpenIndex(t.Context(), path, engine.IndexOptions{})
		must(r, err)
		defer fresh.Close()
		now, err := fresh.Snapshot()
		must(r, err)
		defer now.Close()
		for _, q := range rapid.SliceOfN(queries(), 1, 12).Draw(r, "queries") {
			want, err := now.Search(t.Context(), q)
			must(r, err)
			got, _, err := c.Search(t.Context(), "books", q, api.Ask{Names: true})
			must(r, err)
			var names []string
			for _, d := range want.Docs {
				name, err := now.File().DocName(d)
				must(r, err)
				names = append(names, name)
			}
			if got.Count != want.Count || !slices.Equal(got.Names, names) || !slices.Equal(got.Scores, want.Scores) {
				r.Fatalf("%+v:\n%v %v %v, want\n%v %v %v", q, got.Count, got.Names, got.Scores, want.Count, names, want.Scores)
			}
		}
		x, err := c.Index(t.Context(), "books")
		must(r, err)
		if x.GetDocs() != uint64(len(live)) || !x.GetReady() {
			r.Fatalf("%v, want %d documents", x, len(live))
		}
	})
}

// TestRequiredDeleted: a required term whose documents are all deleted matches nothing.
func TestRequiredDeleted(t *testing.T) {
	e := newEngine(t)
	dir, w := create(t)
	set := newSet()
	defer set.Close()
	c := set.Coordinator(cluster.Options{})
	must(t, add(w, []string{"n00\theaven", "n01\ta"}))
	must(t, erase(w, []string{"n01"}))
	_, err := set.Load(t.Context(), e, "books", dir)
	must(t, err)
	for _, text := range []string{"+a heaven", "+a heav* -c", "a AND heaven", "a"} {
		got, _, err := c.Search(t.Context(), "books", engine.Query{Text: text, K: 1}, api.Ask{Names: true})
		if err != nil || got.Count != 0 {
			t.Errorf("%q: %d documents, %v", text, got.Count, err)
		}
	}
}

// TestStates: a query that runs keeps its state while the collection changes; segments stay open, and
// states that no query uses are closed.
func TestStates(t *testing.T) {
	e := newEngine(t)
	dir, w := create(t)
	set := newSet()
	load := func() uint64 {
		t.Helper()
		m, err := set.Load(t.Context(), e, "books", dir)
		must(t, err)
		return m.Epoch
	}
	must(t, add(w, []string{"n00\ta", "n01\tb"}))
	first := load()
	docs, err := set.all["books"].Snapshot()
	must(t, err)
	index := docs.Segments()[0].Info().Path
	for i := range 5 {
		must(t, add(w, []string{fmt.Sprintf("n%02d\ta", i+2)}))
		load()
	}
	now, err := set.Map(t.Context(), "books")
	must(t, err)
	shared := opened(set, now.Epoch)
	if len(now.Shards) != 6 || len(shared) != 2 || shared[0] != shared[1] {
		t.Errorf("%d segments, the first one is open as %v", len(now.Shards), shared)
	}
	must(t, w.Merge(t.Context()))
	load()
	must(t, add(w, []string{"n99\ta"}))
	load()
	if name, err := docs.Segments()[0].File().DocName(0); err != nil || name != "n00" || docs.Segments()[0].Info().Path != index {
		t.Errorf("the first state %d has document %q, %v", first, name, err)
	}
	if of := opened(set, now.Epoch+2); len(of) != 2 || of[0] != of[1] || of[0] == shared[0] {
		t.Errorf("after a merge the first segment is open as %v", of)
	}
	must(t, docs.Close())
	must(t, set.Close())
	if _, err := set.Map(t.Context(), "books"); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("after Close: %v", err)
	}
}

// opened returns the lists of the first segment in each open state up to an epoch.
func opened(s testSet, epoch uint64) (all []*lists.Generation) {
	for ; epoch > 0; epoch-- {
		if p, release, err := s.Part("books", epoch, 0); err == nil {
			all = append(all, p.Generation)
			release()
		}
	}
	return all
}

// TestLoad: errors of a load leave the state before.
func TestLoad(t *testing.T) {
	e := newEngine(t)
	dir, w := create(t)
	set := newSet()
	defer set.Close()
	if _, err := set.Load(t.Context(), e, "none", t.TempDir()); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("no manifest: %v", err)
	}
	must(t, add(w, []string{"n00\ta"}))
	before, err := set.Load(t.Context(), e, "books", dir)
	must(t, err)
	must(t, add(w, []string{"n01\ta"}))
	m := w.Manifest()
	must(t, os.Truncate(filepath.Join(dir, m.Segments[1].File), 100))
	if _, err := set.Load(t.Context(), e, "books", dir); engine.CodeOf(err) != engine.Corrupt {
		t.Errorf("a short file: %v", err)
	}
	if now, err := set.Map(t.Context(), "books"); err != nil || now.Epoch != before.Epoch || len(now.Shards) != 1 {
		t.Errorf("%+v, %v", now, err)
	}
}

// TestAnew: a collection that was removed and created again has the new documents, also if both have
// states of one number.
func TestAnew(t *testing.T) {
	e := newEngine(t)
	dir, w := create(t)
	set := newSet()
	defer set.Close()
	c := set.Coordinator(cluster.Options{})
	check := func(want ...string) {
		t.Helper()
		_, err := set.Load(t.Context(), e, "books", dir)
		must(t, err)
		got, _, err := c.Search(t.Context(), "books", engine.Query{Text: "a"}, api.Ask{Names: true})
		must(t, err)
		if !slices.Equal(got.Names, want) {
			t.Errorf("documents %v, want %v", got.Names, want)
		}
	}
	must(t, add(w, []string{"n00\ta", "n01\ta"}))
	must(t, erase(w, []string{"n00"}))
	check("n01")
	for _, gone := range []string{"n01", "n00"} { // three states, the last with one segment and one deleted document
		must(t, w.Close())
		must(t, os.RemoveAll(dir))
		must(t, collection.Create(t.Context(), dir, build.DefaultOptions()))
		var err error
		w, err = collection.Open(dir, collection.Options{Creator: "test"})
		must(t, err)
		must(t, add(w, []string{"n00\ta", "n01\ta"}))
		must(t, erase(w, []string{gone}))
		check(map[string]string{"n01": "n00", "n00": "n01"}[gone])
	}
	must(t, w.Close())
	must(t, os.RemoveAll(dir))
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions()))
	check()
	w, err := collection.Open(dir, collection.Options{Creator: "test"})
	must(t, err)
	defer w.Close()
	must(t, add(w, []string{"n02\ta"}))
	must(t, add(w, []string{"n03\ta"})) // as many states as before, more segments
	check("n02", "n03")
}
