package examples

import (
	"context"
	"fmt"
	"os"

	"heddle/engine"
)

// One call answers many queries. The processors share them.
func Example_batches() {
	ctx := context.Background()
	folder, index, _ := files(ctx)
	defer os.RemoveAll(folder)

	e := must(engine.New(ctx, engine.Options{}))
	defer e.Close()
	x := must(e.OpenIndex(ctx, index, engine.IndexOptions{}))
	var queries []engine.Query
	for _, text := range []string{"sea", "sea map", "moor", "desert"} {
		queries = append(queries, engine.Query{Text: text, Match: engine.And, CountOnly: true})
	}
	counts := make([]uint64, len(queries))
	check(x.SearchAll(ctx, queries, func(first int, all []engine.Hits) error {
		for i, hits := range all { // several goroutines, each with queries of its own
			counts[first+i] = hits.Count
		}
		return nil
	}))
	for i, q := range queries {
		fmt.Println(q.Text, counts[i])
	}
	// Output:
	// sea 3
	// sea map 1
	// moor 1
	// desert 0
}
