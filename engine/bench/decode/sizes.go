package decode

import (
	"context"
	"slices"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/workload"
)

// forced returns the options of Figures 7 and 8: each segment has as many exceptions as
// the share allows.
func forced(share float64) codec.Options {
	opt := workload.Encoding{Exceptions: share}.Options()
	opt.Forced = true
	return opt
}

// takesExceptions reports whether a forced share of exceptions changes the output of a
// codec. The rest have no exceptions, or one width for all segments.
func takesExceptions(id codec.ID) bool {
	docs := make([]uint32, 1000)
	for i := range docs { // a fifth of the gaps are large
		docs[i] = uint32(3*i + i/5*1000)
	}
	return codec.Size(id, docs, forced(0)) != codec.Size(id, docs, forced(codec.MaxExceptionRatio))
}

// decodes reports whether a contestant has a decoder for a codec. A device has no
// decoder for raw lists, which it reads in place.
func decodes(c harness.Contestant, id codec.ID) bool {
	return c.Name == "host" || id != codec.Raw && slices.Contains(codec.IDs(), id)
}

// words is the size of the lists in a codec, with its tables.
func words(ctx context.Context, c workload.Collection, id codec.ID, opt codec.Options) (uint64, error) {
	var sum atomic.Uint64
	err := workload.Each(ctx, len(c.Lists), func(h int) error {
		sum.Add(uint64(codec.Size(id, c.Lists[h], opt)))
		return nil
	})
	return sum.Load(), err
}

// ratioOfLists is the size of plain lists over the size of encoded ones, as Ao et al.
// define it.
func ratioOfLists(ctx context.Context, c workload.Collection, id codec.ID, opt codec.Options) (float64, error) {
	words, err := words(ctx, c, id, opt)
	return float64(c.Postings()) / float64(max(words, 1)), err
}
