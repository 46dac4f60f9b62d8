package engine

import "heddle/engine/plan"

// Processor describes a processor of an engine.
type Processor struct {
	Name    string    // unique in the engine
	Info    plan.Info // description of its backend
	Reason  string    // why the engine chose it
	Reserve bool      // runs only queries that no other processor can run
	Removed error     // why the scheduler removed it; nil if it works
}

// Resident says how lists or a table lie on a processor.
type Resident struct {
	Processor string
	Reserve   bool      // runs only queries that no other processor can run
	Info      plan.Info // description of the backend; for shards, of all devices together
	Bytes     uint64    // memory of the lists or the table, with auxiliary tables and scratch
	Reason    string    // why the lists or the table lie there
	// Batch and BatchPostings are the loads that close batches of boolean and of ranked
	// queries: see Options.BatchCandidates and Options.BatchPostings.
	Batch, BatchPostings uint64
	// Cache is nil if all lists are resident.
	Cache *plan.CacheStats
}
