package examples

import (
	"context"
	"fmt"
	"os"

	"heddle/engine"
)

// A learned model gives each term a weight; users write weights and operators in the text.
func Example_weights() {
	ctx := context.Background()
	folder, index, _ := files(ctx)
	defer os.RemoveAll(folder)

	e := must(engine.New(ctx, engine.Options{}))
	defer e.Close()
	x := must(e.OpenIndex(ctx, index, engine.IndexOptions{}))
	for _, q := range []engine.Query{
		{Terms: []string{"balloon", "moor"}, Weights: []float64{0.5, 2}},
		{Terms: []string{"balloon", "moor"}, Weights: []float64{2, 0.5}},
		{Text: "balloon^2 moor^0.5"},
		{Text: "+sea -map white"},
	} {
		q.K = 10
		fmt.Println(q.Text, q.Weights, must(x.Search(ctx, q)).Docs)
	}
	// Output:
	//  [0.5 2] [2 3]
	//  [2 0.5] [3 2]
	// balloon^2 moor^0.5 [] [3 2]
	// +sea -map white [] [0 3]
}
