package examples

import (
	"context"
	"fmt"
	"os"

	"heddle/engine"
	"heddle/engine/plan"
	"heddle/engine/table/rowset"
)

// A table selects the rows for which a predicate is true: their number, or the rows.
func Example_tables() {
	ctx := context.Background()
	folder, _, table := files(ctx)
	defer os.RemoveAll(folder)

	e := must(engine.New(ctx, engine.Options{}))
	defer e.Close()
	t := must(e.OpenTable(ctx, table, engine.TableOptions{}))
	long := must(t.Select(ctx, engine.Selection{Where: "pages > 500", Output: plan.OutputCounts}))
	fmt.Println(long.Count, "long books")
	rows := must(t.Select(ctx, engine.Selection{Where: "year BETWEEN 1850 AND 1870"}))
	fmt.Println("rows", rowset.AppendIDs(nil, rows.Bits))
	_, err := t.Select(ctx, engine.Selection{Where: "page > 500"})
	fmt.Println(engine.CodeOf(err))
	// Output:
	// 2 long books
	// rows [0 3]
	// invalid_query
}
