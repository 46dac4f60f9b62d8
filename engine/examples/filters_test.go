package examples

import (
	"context"
	"fmt"
	"os"

	"heddle/engine"
)

// A table has the attributes of the documents: its row i describes document i. A filter restricts a query
// to the documents of a predicate, and facets count the matching documents by attribute.
func Example_filters() {
	ctx := context.Background()
	folder, index, table := files(ctx)
	defer os.RemoveAll(folder)

	e := must(engine.New(ctx, engine.Options{}))
	defer e.Close()
	x := must(e.OpenIndex(ctx, index, engine.IndexOptions{}))
	t := must(e.OpenTable(ctx, table, engine.TableOptions{}))
	filter := &engine.Filter{Table: t, Where: "year >= 1860 AND lang IN ('en', 'fr')"}
	hits := must(x.Search(ctx, engine.Query{Text: "sea", K: 10, Filter: filter}))
	fmt.Println(hits.Count, "books of the sea since 1860")

	matches, facets, err := x.Facets(ctx, engine.Query{Text: "sea"}, engine.Facets{Table: t, Columns: []string{"lang"}})
	check(err)
	fmt.Println(matches, "books of the sea:")
	for _, v := range facets[0].Values {
		fmt.Println(facets[0].Column, v.Value, v.Count)
	}
	// Output:
	// 2 books of the sea since 1860
	// 3 books of the sea:
	// lang en 2
	// lang fr 1
}
