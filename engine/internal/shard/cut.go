package shard

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"heddle/engine/file/container"
)

// maxRanges is how finely postings are counted: cuts lie between ranges of documents, so
// a part has up to a range's postings too many or too few.
const maxRanges = 1 << 14

// rangeShift makes ranges of documents: document d lies in range d >> rangeShift(docs),
// below maxRanges.
func rangeShift(docs uint32) int { return max(bits.Len32(max(docs, 1)-1)-14, 0) }

// count gives how many postings each range of documents has.
func (s *splitter) count(ctx context.Context) ([]uint64, error) {
	shift := rangeShift(s.src.Docs)
	counts := make([]atomic.Uint64, maxRanges)
	err := container.Parallel(len(s.pieces)-1, func(i int) error {
		w := s.workers.Get().(*worker)
		defer s.workers.Put(w)
		for h := s.pieces[i]; h < s.pieces[i+1]; h++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.decode(w, h); err != nil {
				return err
			}
			for at := 0; at < len(w.docs); {
				r, from := w.docs[at]>>shift, at
				for at < len(w.docs) && w.docs[at]>>shift == r {
					at++
				}
				counts[r].Add(uint64(at - from))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	postings := make([]uint64, len(counts))
	for r := range counts {
		postings[r] = counts[r].Load()
	}
	return postings, nil
}

// cutsOf gives the first documents of n parts, and docs, for the postings of the ranges.
func cutsOf(postings []uint64, docs uint32, n int) []uint32 {
	before := make([]uint64, len(postings)+1) // each range
	for r, p := range postings {
		before[r+1] = before[r] + p
	}
	total := before[len(postings)]
	cuts := make([]uint32, n+1)
	for i := 1; i < n; i++ {
		if total == 0 {
			cuts[i] = uint32(uint64(docs) * uint64(i) / uint64(n))
			continue
		}
		want := total/uint64(n)*uint64(i) + total%uint64(n)*uint64(i)/uint64(n)
		r, _ := slices.BinarySearch(before, want)
		if r > 0 && want-before[r-1] < before[r]-want {
			r--
		}
		cuts[i] = uint32(min(uint64(r)<<rangeShift(docs), uint64(docs)))
	}
	cuts[n] = docs
	return cuts
}
