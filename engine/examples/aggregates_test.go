package examples

import (
	"context"
	"os"

	"heddle/engine"
	"heddle/engine/table/values"
)

// An aggregation has a row for each group of rows. Its values are exact, and package values writes them.
func Example_aggregates() {
	ctx := context.Background()
	folder, _, table := files(ctx)
	defer os.RemoveAll(folder)

	e := must(engine.New(ctx, engine.Options{}))
	defer e.Close()
	t := must(e.OpenTable(ctx, table, engine.TableOptions{}))
	w := values.NewCSV(os.Stdout)
	check(t.Aggregate(ctx, engine.Aggregation{
		Select:  "lang, count(*) AS books, sum(pages), avg(pages)",
		GroupBy: "lang",
		OrderBy: "books DESC",
		Rows:    engine.Selection{Where: "year < 1880"},
	}, w.Write))
	check(w.Close())
	// Output:
	// lang,books,sum(pages),avg(pages)
	// en,2,1167,583.5
	// fr,1,352,352
}
