package hdl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// withName returns the documents with a name.
func withName(t testing.TB, f *File, name string) (all []uint32) {
	t.Helper()
	for d, err := range f.WithName(context.Background(), name) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// TestWithName finds the documents with each of many names, some of which many documents have, from several goroutines,
// and no document by other names. A call whose context has ended gives its error, and the next call the documents.
func TestWithName(t *testing.T) {
	s := &sample{meta: Meta{Docs: 100_000, ExceptionRatio: 0.1}, lens: make([]uint32, 100_000)}
	want := map[string][]uint32{}
	for d := range s.meta.Docs {
		name := fmt.Sprint("n", d%90_000)
		if d%100 == 7 {
			name = ""
		}
		s.names = append(s.names, name)
		want[name] = append(want[name], d)
	}
	s.add("loom", []uint32{1})
	f, err := Open(s.build(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range f.WithName(ended, "n1") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("behind the end of the context: %v", err)
		}
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for name, docs := range want {
				if got := withName(t, f, name); !slices.Equal(got, docs) {
					t.Errorf("%q: documents %d, want %d", name, got, docs)
					return
				}
			}
			if got := withName(t, f, fmt.Sprint("m", i)); got != nil {
				t.Errorf("a name of no document: %d", got)
			}
		})
	}
	all.Wait()
}

// BenchmarkWithName looks a document up in an index of a million documents.
func BenchmarkWithName(b *testing.B) {
	s := benchSample()
	f, err := Open(s.build(b))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			f.named.Store(nil)
			withName(b, f, s.names[12345])
		}
	})
	b.Run("next", func(b *testing.B) {
		for i := 0; b.Loop(); i += 7919 {
			if got := withName(b, f, s.names[i%len(s.names)]); len(got) != 1 {
				b.Fatal(got)
			}
		}
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			for _, name := range f.Names(0) {
				if name == "none" {
					b.Fatal(name)
				}
			}
		}
	})
}
