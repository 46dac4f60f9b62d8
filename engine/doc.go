// Package engine is heddle's public face: it opens an index, chooses where the
// lists live (an OpenCL device or pure Go on all cores), and answers queries,
// one at a time or many in batches.
//
//	x, err := engine.Open(ctx, "books.hdl", engine.Options{})
//	if err != nil { ... }
//	defer x.Close()
//	answer, err := x.Search(ctx, engine.Query{Text: "heaven earth"}, engine.SearchOptions{})
//
// A query may also be an expression of AND, OR and NOT (Query.Expr), which package
// boolean reads.
//
// Rank gives the best documents instead of all, by BM25 (package bm25) or by the
// impacts that the index holds:
//
//	best, err := x.Rank(ctx, engine.Query{Text: "heaven^2 earth"}, engine.RankOptions{K: 10})
//
// Its mode says which documents count: those of any term (Or), of every term (And),
// or those of any where too few have every term (AndOr). The order is total: score
// descending, then docID ascending. SearchMany, SearchBatches, RankMany and
// RankBatches take many queries at once and keep a device busy.
//
// An Engine answers queries on an index with every processor there is, under any load:
// alone on the processor that should finish them first, or in batches (package
// schedule). It keeps answers and indices may be changed while it runs:
//
//	e, err := engine.Start(ctx, "books.hdl", engine.EngineOptions{Timeout: 500 * time.Millisecond})
//	if err != nil { ... }
//	defer e.Close()
//	answer, err := e.Search(ctx, engine.Query{Text: "heaven earth"}, engine.SearchOptions{}, engine.Call{})
//	err = e.Reload(ctx, "books.hdl")
//
// A bitmap table answers predicates on its columns (package predicate), exactly,
// from bit vectors and, for bins that a predicate cuts, from stored values:
//
//	t, err := engine.OpenTable(ctx, "flights.hdb", engine.Options{})
//	if err != nil { ... }
//	defer t.Close()
//	var rows plan.Rows
//	err = t.Select(ctx, []string{"delay >= 60 AND distance < 500"}, engine.TableOptions{}, &rows)
//
// An Engine, an Index or a Table is safe for concurrent use by any number of goroutines,
// except that Close of an Index must not run beside other calls; those of an Engine and a
// Table wait for them. Every backend gives the same answer, byte for byte, scores included. When a
// device fails while an index or a table is open (lost, out of memory), the next backend
// of the list takes over, the batch is run again there, and a warning is logged; a query
// is never lost or answered twice.
package engine
