package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"heddle/codec"
	"heddle/engine"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
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
	if _, err := build.Build(ctx, index, []string{verses}, build.DefaultOptions()); err != nil {
		log.Fatal(err)
	}

	e, err := engine.New(ctx, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	x, err := e.OpenIndex(ctx, index, engine.IndexOptions{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := x.Snapshot() // documents and their names are of one file
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	hits, err := s.Search(ctx, engine.Query{Text: "heaven earth", Match: engine.And})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hits.Count, "verses")
	for _, d := range hits.Docs {
		name, err := s.File().DocName(d)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name)
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
	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	x, err := e.NewIndex(ctx, src, dict, engine.IndexOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"earth AND (heaven OR sea)", "earth NOT sea", "NOT sea"} {
		expr, err := querylang.Parse(text, querylang.And)
		if err != nil {
			fmt.Println(err)
			continue
		}
		hits, err := x.Search(ctx, engine.Query{Expr: &expr})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(hits.Count, hits.Docs)
	}
	// Output:
	// 3 [0 2 3]
	// 2 [0 1]
	// 4 [0 1 4 5]
}

// The best documents come first: short ones that have rare words, often. A weight
// behind a word makes it count more.
func ExampleQuery_ranked() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	verses := filepath.Join(folder, "verses.txt") // name TAB text
	text := "" +
		"Genesis 1:1\tIn the beginning God created the heaven and the earth.\n" +
		"Genesis 1:10\tAnd God called the dry land Earth; and the gathering together of the waters called he Seas.\n" +
		"Genesis 2:1\tThus the heavens and the earth were finished, and all the host of them.\n" +
		"Psalms 115:16\tThe heaven, even the heavens, are the LORD's: but the earth hath he given to the children of men.\n"
	if err := os.WriteFile(verses, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
	index := filepath.Join(folder, "verses.hdl")
	if _, err := build.Build(ctx, index, []string{verses}, build.DefaultOptions()); err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	x, err := e.OpenIndex(ctx, index, engine.IndexOptions{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := x.Snapshot() // documents and their names are of one file
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, text := range []string{"heaven seas", "heaven^3 seas"} {
		best, err := s.Search(ctx, engine.Query{Text: text, K: 2})
		if err != nil {
			log.Fatal(err)
		}
		for i, d := range best.Docs {
			name, err := s.File().DocName(d)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%.4f %s\n", best.Scores[i], name)
		}
	}
	// Output:
	// 0.6181 Genesis 1:10
	// 0.3894 Genesis 1:1
	// 1.1682 Genesis 1:1
	// 1.0418 Psalms 115:16
}

// A shard that is given the statistics of the whole collection scores as the whole
// would, so the rankings of shards can be merged by score.
func ExampleStatistics() {
	ctx := context.Background()
	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	var shards []*engine.Index
	for _, docs := range [][]uint32{{0, 1, 2}, {1}} {
		src := &plan.Source{Docs: 3, Lengths: []uint32{3, 2, 5}}
		h, err := src.Append(codec.Raw, docs, codec.DefaultOptions())
		if err != nil {
			log.Fatal(err)
		}
		if err := src.AppendFreqs(h, []uint32{2, 1, 1}[:len(docs)], codec.DefaultOptions()); err != nil {
			log.Fatal(err)
		}
		dict, err := hdl.NewDictionary([]string{"earth"})
		if err != nil {
			log.Fatal(err)
		}
		x, err := e.NewIndex(ctx, src, dict, engine.IndexOptions{})
		if err != nil {
			log.Fatal(err)
		}
		shards = append(shards, x)
	}
	var whole engine.Statistics
	for _, x := range shards {
		own, err := x.Statistics("earth")
		if err != nil {
			log.Fatal(err)
		}
		whole.Add(own)
	}
	for i, x := range shards {
		best, err := x.Search(ctx, engine.Query{Text: "earth", K: 2, Statistics: &whole})
		if err != nil {
			log.Fatal(err)
		}
		for j, d := range best.Docs {
			fmt.Printf("shard %d, document %d: %.4f\n", i, d, best.Scores[j])
		}
	}
	// Output:
	// shard 0, document 0: 0.3085
	// shard 0, document 1: 0.2516
	// shard 1, document 1: 0.3206
}

// SearchAll answers many queries in batches. It passes views, which the caller copies.
func ExampleIndex_SearchAll() {
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
	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	x, err := e.NewIndex(ctx, src, dict, engine.IndexOptions{})
	if err != nil {
		log.Fatal(err)
	}
	queries := []engine.Query{{Text: "heaven earth", Match: engine.And}, {Terms: []string{"earth"}}, {Text: "heaven hell", Match: engine.And, CountOnly: true}}
	counts, docs := make([]uint64, len(queries)), make([][]uint32, len(queries))
	if err := x.SearchAll(ctx, queries, func(first int, hits []engine.Hits) error {
		for i, h := range hits { // calls have disjoint ranges
			counts[first+i], docs[first+i] = h.Count, slices.Clone(h.Docs)
		}
		return nil
	}); err != nil {
		log.Fatal(err)
	}
	for i := range queries {
		fmt.Println(counts[i], docs[i])
	}
	// Output:
	// 2 [0 3]
	// 4 [0 1 2 3]
	// 0 []
}
