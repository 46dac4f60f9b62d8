// Package part computes answers for one part of an index or table, which the coordinator of a cluster joins.
// Package engine sets these functions when it is loaded, so that shards can call what its public API leaves out.
package part

import (
	"context"

	"heddle/engine/table/partial"
)

// Facets counts the values of columns of a part: one state of each column, for facet.Join. snapshot is a
// *engine.Snapshot, query a *engine.Query and facets a *engine.Facets. Limit of facets and K of the query have
// no effect, and AndOr is Or. Errors: the errors of engine.Index.Facets.
var Facets func(ctx context.Context, snapshot, query, facets any) (matches uint64, all []*partial.State, err error)

// Aggregate computes the answer of a part, for tables.Join. table is a *engine.Table and aggregation a
// *engine.Aggregation. Errors: the errors of engine.Table.Aggregate.
var Aggregate func(ctx context.Context, table, aggregation any) (*partial.State, error)
