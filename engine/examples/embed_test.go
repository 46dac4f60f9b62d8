package examples

import (
	"context"
	"fmt"
	"os"

	"heddle/engine"
)

// An engine opens the index on the best processor that there is: an OpenCL device, or pure Go.
func Example_embed() {
	ctx := context.Background()
	folder, index, _ := files(ctx)
	defer os.RemoveAll(folder)

	e := must(engine.New(ctx, engine.Options{}))
	defer e.Close()
	x := must(e.OpenIndex(ctx, index, engine.IndexOptions{}))
	s := must(x.Snapshot()) // hits and names are of one file, whatever is loaded meanwhile
	defer s.Close()
	hits := must(s.Search(ctx, engine.Query{Text: "white sea", K: 2}))
	for _, doc := range hits.Docs {
		fmt.Println(must(s.File().DocName(doc)))
	}
	// Output:
	// whale
	// balloon
}
