package plantest

import (
	"fmt"
	"slices"

	"heddle/engine/plan"
)

// answer gives the docIDs of every query of b.
func (s *source) answer(b *plan.MatchBatch) [][]uint32 {
	want := make([][]uint32, b.Queries())
	for i := range want {
		for j, h := range b.Query(i) {
			if j == 0 {
				want[i] = s.docs[h]
			} else {
				want[i] = plan.Merge(want[i], s.docs[h])
			}
		}
	}
	return want
}

// compare says where out differs from want, the oracle's answer to b.
func (s *source) compare(b *plan.MatchBatch, want [][]uint32, out *plan.Results) error {
	if err := bounded(b, &s.Source, out); err != nil {
		return err
	}
	for i, w := range want {
		if got := out.Count(i); got != uint64(len(w)) {
			return fmt.Errorf("query %d (%s): %d documents, want %d", i, s.describeQuery(b, i), got, len(w))
		}
		if b.CountOnly {
			continue
		}
		if got := out.Query(i); !slices.Equal(got, w) {
			j := 0
			for got[j] == w[j] {
				j++
			}
			return fmt.Errorf("query %d (%s): document %d of %d is %d, want %d", i, s.describeQuery(b, i), j, len(w), got[j], w[j])
		}
	}
	return nil
}

// bounded checks what must hold of any results, those of corrupt lists too: the
// offsets cover the docIDs, and no query matches more than its shortest list has.
func bounded(b *plan.MatchBatch, src *plan.Source, out *plan.Results) error {
	if len(out.Offsets) != b.Queries()+1 {
		return fmt.Errorf("%d offsets for %d queries", len(out.Offsets), b.Queries())
	}
	if out.Offsets[0] != 0 {
		return fmt.Errorf("the first offset is %d", out.Offsets[0])
	}
	for i := range b.Queries() {
		if out.Offsets[i] > out.Offsets[i+1] {
			return fmt.Errorf("offset %d descends from %d to %d", i+1, out.Offsets[i], out.Offsets[i+1])
		}
		limit := uint64(0)
		if q := b.Query(i); len(q) > 0 {
			limit = uint64(src.Lists[q[0]].Len)
		}
		if n := out.Count(i); n > limit {
			return fmt.Errorf("query %d matched %d documents, its shortest list has %d", i, n, limit)
		}
	}
	docs := out.Offsets[b.Queries()]
	if b.CountOnly {
		docs = 0
	}
	if uint64(len(out.Docs)) != docs {
		return fmt.Errorf("%d docIDs, want %d", len(out.Docs), docs)
	}
	return nil
}

func (s *source) describeQuery(b *plan.MatchBatch, i int) string {
	text := ""
	for j, h := range b.Query(i) {
		if j > 0 {
			text += " and "
		}
		if j == 6 {
			return text + "..."
		}
		text += fmt.Sprintf("list %d: %v of %d", h, s.Lists[h].Codec, s.Lists[h].Len)
	}
	return text
}
