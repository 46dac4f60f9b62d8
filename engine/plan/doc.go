// Package plan is the interface between the engine and its backends: posting
// lists and tables (Source, Table), batches of queries (MatchBatch, RankBatch,
// SelectBatch), results (Results, TopK, Rows), and the duties of a backend
// (Backend, Store, TableStore).
//
// A backend knows no terms, files and flags: lists are handles. The engine knows
// no devices: it reads Info and Stats.
package plan
