package workload

import (
	"context"
	"fmt"
)

// EvenLists describes lists of equal length with gaps of 1 to 256, so 8 bits per gap.
type EvenLists struct {
	Count, Length int // number of lists, docIDs in each
}

func (d EvenLists) String() string {
	return fmt.Sprintf("%d lists of %d, gaps of 8 bits", d.Count, d.Length)
}

// Draw makes the lists from a seed.
func (d EvenLists) Draw(ctx context.Context, seed uint64) ([][]uint32, error) {
	lists := make([][]uint32, d.Count)
	all := make([]uint32, d.Count*d.Length)
	return lists, Each(ctx, d.Count, func(h int) error {
		r := NewRandom(seed, StreamGaps, uint64(h))
		docs := all[h*d.Length : (h+1)*d.Length : (h+1)*d.Length]
		doc := uint32(0)
		for i := range docs {
			doc += 1 + uint32(r.Below(256))
			docs[i] = doc
		}
		lists[h] = docs
		return nil
	})
}
