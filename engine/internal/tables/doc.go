// Package tables answers selections on bitmap tables: it compiles predicates to
// plan.SelectBatch, counts the work of a batch for the cost model, measures the costs of
// processors on the table's own vectors, and explains answers.
//
// A Data is one table with its columns. A Generation is a Data resident on the processors
// of an engine, with a cost model for each processor and class of strategies. A Task is
// the selections of one call, which the scheduler runs alone or joined with other tasks.
package tables
