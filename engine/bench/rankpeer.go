package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"heddle/engine"
)

// rankPeer is another library that ranks the same collection. It is safe for
// concurrent use.
type rankPeer interface {
	// rank gives the docIDs of the best k documents that have any or all of the terms.
	rank(ctx context.Context, terms []string, mode engine.Mode, k int) ([]uint32, error)
	close() error
}

// bleveName is the row of the peer, and the baseline of others.
const bleveName = "bleve"

// newBlevePeer indexes n documents, terms with spaces between, in a folder, to be
// ranked by BM25. It is nil unless heddle is built with the tag bleve: the module
// brings twenty others.
var newBlevePeer func(ctx context.Context, dir string, n int, text func(doc int) string, k1, b float64) (rankPeer, error)

// rankAll ranks queries on all threads, each on one.
func rankAll(ctx context.Context, p rankPeer, threads int, qs []engine.Query, mode engine.Mode, k int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(qs) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if _, err := p.rank(ctx, qs[i].Terms, mode, k); err != nil {
					cancel(fmt.Errorf("%s: query %d: %w", bleveName, i, err))
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
