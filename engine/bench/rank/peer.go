package rank

import (
	"context"
	"fmt"

	"heddle/engine/bench/workload"
)

// Library is another search library that exhibit "text" measures on the same
// collection and queries, in turns with heddle.
type Library struct {
	// Name of the library in rows, and of the baseline.
	Name string
	// Open indexes n documents in a folder, for BM25 with the parameters k1 and b. text
	// returns the terms of a document, separated by spaces.
	Open func(ctx context.Context, folder string, n int, text func(doc int) string, k1, b float64) (Peer, error)
}

// Peer is an index of a Library. It is safe for concurrent use.
type Peer interface {
	// Rank returns the docIDs of the best k documents that contain any of the terms (mode
	// Or) or all of them (mode And).
	Rank(ctx context.Context, terms []string, mode workload.Mode, k int) ([]uint32, error)
	Close() error
}

// rankAll ranks queries on all threads, each query on one thread.
func rankAll(ctx context.Context, p Peer, threads int, qs []workload.Query, mode workload.Mode, k int) error {
	return workload.OnThreads(ctx, threads, len(qs), func(_ *struct{}, i int) error {
		if _, err := p.Rank(ctx, qs[i].Terms, mode, k); err != nil {
			return fmt.Errorf("peer: query %d: %w", i, err)
		}
		return nil
	})
}
