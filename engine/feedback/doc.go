// Package feedback makes queries from documents: of the terms of one document (Like), and of the terms of the best documents of a
// query (RM3).
//
// The terms come from the stored texts of documents (index build --store), up to their best 100,000 bytes, by the analysis
// of the index. Both return a query of weighted terms under engine.Or, which keeps the other members of the query that is given:
//
//	x := feedback.Of(snapshot)
//	q, err := feedback.RM3{}.Expand(ctx, x, engine.Query{Text: "loom", K: 10})
//	hits, err := snapshot.Search(ctx, q)
//
// In an index with fields each word is searched in all fields, or in those of Query.QueryFields with their weights, and its number of
// documents is that of the field where most documents have it.
package feedback
