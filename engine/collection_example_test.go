package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"heddle/engine"
)

// A collection is made, filled, searched with a filter and changed. Each answer has the changes before it.
func ExampleCollection() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	looms, err := e.OpenCollection(ctx, filepath.Join(folder, "looms"), engine.CollectionOptions{
		Create: &engine.CollectionSettings{Stem: "english", Store: "text", Attributes: []engine.Attribute{{Name: "year", Type: "int"}}}})
	if err != nil {
		log.Fatal(err)
	}
	defer looms.Close()

	added, err := looms.Add(ctx, slices.Values([]engine.Document{
		{Name: "a", Text: "the red looms", Members: map[string]any{"year": 1785}},
		{Name: "b", Text: "a blue loom", Members: map[string]any{"year": 1804}},
		{Name: "c", Text: "threads of a loom", Members: map[string]any{"year": 1820}},
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(added.Added, "added,", added.Documents, "documents")

	hits, err := looms.Search(ctx, engine.Query{Text: "loom", K: 10, Names: true, Filter: &engine.Filter{Where: "year > 1800"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hits.Names)

	if _, err := looms.Add(ctx, slices.Values([]engine.Document{{Name: "b", Text: "nothing more"}})); err != nil { // replaces b
		log.Fatal(err)
	}
	gone, err := looms.DeleteMatches(ctx, engine.Query{Filter: &engine.Filter{Where: "year < 1800"}})
	if err != nil {
		log.Fatal(err)
	}
	now, err := looms.Merge(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(gone.Deleted, "deleted,", now.Documents, "documents,", now.Segments, "segment")

	s, err := looms.Snapshot() // numbers of documents belong to it, whatever changes follow
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	rest, err := s.Search(ctx, engine.Query{Text: "loom", Fields: &engine.Fields{Snippet: &engine.Snippet{Size: 80, Mark: [2]string{"*", "*"}}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rest.Documents[0].Name, rest.Documents[0].Snippet, looms.Verify(ctx))
	// Output:
	// 3 added, 3 documents
	// [b c]
	// 1 deleted, 2 documents, 1 segment
	// c threads of a *loom* <nil>
}
