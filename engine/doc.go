// Package engine searches posting lists and bitmap tables on all processors of a machine: pure
// Go on its cores and OpenCL devices.
//
//	e, err := engine.New(ctx, engine.Options{})
//	if err != nil { ... }
//	defer e.Close()
//	x, err := e.OpenIndex(ctx, "books.hdl", engine.IndexOptions{})
//	if err != nil { ... }
//	best, err := x.Search(ctx, engine.Query{Text: "heaven^2 earth", K: 10})
//
// To build: index.NewWriter and table.NewWriter take documents and rows from Go, packages index/build and
// table/build and the command heddle read files. Collections, documents that change: OpenCollection, which
// needs no other package. Query.Fields asks for names, members and snippets of documents. Package observe
// has metrics and traces, Stats a summary.
//
// An Engine owns the processors, one memory budget for each device, and one scheduler.
// Indexes and tables that it opens share them. A query runs alone on the processor that should
// answer it first, or under load in a batch. If a processor fails, its queries run elsewhere:
// no query is lost or answered twice. All processors give the same answers, byte for byte,
// scores included.
//
// A Query asks an Index for the best K documents with their scores, by BM25 (package bm25) or
// by the impacts that the index holds; with K = 0 for all matching documents; with CountOnly
// for their number. Its documents have any of its terms (Or, the default), every term (And),
// or satisfy an expression with AND, OR, NOT, required and excluded words, weights and
// prefixes, in the language of package querylang. The order of ranked documents is total:
// descending score, then ascending docID. Search answers one query, SearchAll many. A caller that
// asks query after query may give each the memory of an earlier answer (Query.Memory). A
// Snapshot pins the content of an index, so that answers and names of documents belong to one
// file while Reload changes the index.
//
// A Selection asks a Table for the rows for which a predicate is true (package predicate):
//
//	t, err := e.OpenTable(ctx, "flights.hdb", engine.TableOptions{})
//	if err != nil { ... }
//	late, err := t.Select(ctx, engine.Selection{Where: "delay >= 60 AND distance < 500"})
//
// Answers of tables are exact: where a predicate does not select whole bins, the engine reads
// the stored values (bit slices).
//
// All types are safe for concurrent use unless their documentation says otherwise. Errors are
// of type *Error and have a Code.
package engine
