package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"heddle/codec"
	"heddle/engine"
	"heddle/engine/boolean"
	"heddle/engine/hdl"
	"heddle/engine/ingest"
	"heddle/engine/plan"
)

// An index is built from a file of one document a line, opened on the best
// backend that there is, and asked for the documents that have both words.
func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	verses := filepath.Join(folder, "verses.txt") // name TAB text
	text := "" +
		"Genesis 1:1\tIn the beginning God created the heaven and the earth.\n" +
		"Genesis 1:2\tAnd the earth was without form, and void.\n" +
		"Genesis 2:1\tThus the heavens and the earth were finished.\n" +
		"Matthew 24:35\tHeaven and earth shall pass away, but my words shall not pass away.\n"
	if err := os.WriteFile(verses, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
	index := filepath.Join(folder, "verses.hdl")
	if _, err := ingest.Build(ctx, index, []string{verses}, ingest.DefaultOptions()); err != nil {
		log.Fatal(err)
	}

	x, err := engine.Open(ctx, index, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	answer, err := x.Search(ctx, engine.Query{Text: "heaven earth"}, engine.SearchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Count, "verses")
	for _, d := range answer.Docs {
		fmt.Println(x.File().DocName(d))
	}
	// Output:
	// 2 verses
	// Genesis 1:1
	// Matthew 24:35
}

// A boolean query says which words a document must have, may have and must not
// have. An index without analysis, as here, splits texts at white space.
func ExampleQuery_boolean() {
	ctx := context.Background()
	src := &plan.Source{Docs: 6}
	for _, docs := range [][]uint32{{0, 1, 2, 3}, {0, 3, 5}, {2, 3}} {
		if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
			log.Fatal(err)
		}
	}
	dict, err := hdl.NewDictionary([]string{"earth", "heaven", "sea"})
	if err != nil {
		log.Fatal(err)
	}
	x, err := engine.New(ctx, src, dict, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	for _, text := range []string{"earth AND (heaven OR sea)", "earth NOT sea", "NOT sea"} {
		e, err := boolean.Parse(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		answer, err := x.Search(ctx, engine.Query{Expr: &e}, engine.SearchOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer.Count, answer.Docs)
	}
	// Output:
	// 3 [0 2 3]
	// 2 [0 1]
	// column 1: a NOT with nothing to subtract from: NOT takes away from what stands before it, as in a NOT b
	//   NOT sea
	//   ^
}

// Many queries are answered in batches: faster, and in one set of results.
func ExampleIndex_SearchMany() {
	ctx := context.Background()
	src := &plan.Source{Docs: 4}
	for _, docs := range [][]uint32{{0, 1, 2, 3}, {0, 3}} {
		if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
			log.Fatal(err)
		}
	}
	dict, err := hdl.NewDictionary([]string{"earth", "heaven"})
	if err != nil {
		log.Fatal(err)
	}
	x, err := engine.New(ctx, src, dict, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	queries := []engine.Query{{Text: "heaven earth"}, {Terms: []string{"earth"}}, {Text: "heaven hell"}}
	var out plan.Results
	if err := x.SearchMany(ctx, queries, engine.SearchOptions{}, &out); err != nil {
		log.Fatal(err)
	}
	for i := range queries {
		fmt.Println(out.Count(i), out.Query(i))
	}
	// Output:
	// 2 [0 3]
	// 4 [0 1 2 3]
	// 0 []
}
