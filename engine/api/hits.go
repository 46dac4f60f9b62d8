package api

import (
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/internal/coordinator"
)

// Ask says which parts the answer of queries has.
type Ask struct {
	// Names of documents.
	Names bool
	// Limit is the number of documents of a query without K. Default: 0, all.
	Limit uint64
	// Explain asks for the way of a single query through each shard.
	Explain bool
	// AllowPartial answers without the shards that do not answer: see Coverage. Default: false,
	// such a query fails.
	AllowPartial bool
	// Facets of each query. A collection counts columns of its attribute table; Table is nil then.
	// Default: nil, none.
	Facets *engine.Facets
	// Take is called with the size of each document that Query.Fields asks for, in bytes; its error ends the call.
	// Default: nil.
	Take func(bytes int64) error
}

// Hits is the answer of a query on a collection, whose document numbers have 64 bits: see engine.Hits.
type Hits = coordinator.Hits

// Selection selects the rows of a table for which predicates are true.
type Selection struct {
	Where []string
	// In are the rows to select from. Default: nil, all rows.
	In *roaring.Bitmap
	// Rows asks for the numbers of the rows, the first Limit of them; 0 is all.
	Rows  bool
	Limit uint64
	// Explain asks for the way through each shard.
	Explain bool
	// AllowPartial is as in Ask.
	AllowPartial bool
	Caller       string
	// Timeout. Default: 0, the time-out of the engine or coordinator; negative: none.
	Timeout time.Duration
}

// Rows is the answer of a predicate.
type Rows struct {
	Count uint64
	IDs   []uint64 // ascending, of Selection.Rows
	// Err says why a predicate of a batch is invalid.
	Err error
	// Explanation is the way through each shard, if it was asked for.
	Explanation string
}

// Aggregation asks for aggregates or columns of the rows of a table. Its texts are as in
// AggregateRequest.
type Aggregation struct {
	Select, Where, GroupBy, OrderBy string
	// In are the rows to select from. Default: nil, all rows.
	In *roaring.Bitmap
	// Offset and Limit select rows of the answer. A limit of 0 is none.
	Offset, Limit uint64
	// Explain, AllowPartial, Caller and Timeout are as in Selection.
	Explain, AllowPartial bool
	Caller                string
	Timeout               time.Duration
}
