package cl

import (
	"context"
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// selfTest runs every kernel on a small case and compares with plain Go:
// drivers do miscompile.
func (b *Backend) selfTest(ctx context.Context) error {
	failed := func(format string, args ...any) error {
		return &plan.DeviceError{Kind: plan.ErrSelfTest, Device: b.dev.String(), Op: "self-test", Err: fmt.Errorf(format, args...)}
	}
	src, lists, err := selfTestSource()
	if err != nil {
		return failed("preparing: %w", err)
	}
	s, err := b.load(ctx, src)
	if err != nil {
		return err
	}
	defer s.Close()
	var batch plan.Batch
	var got plan.Results
	for _, a := range []plan.Algorithm{plan.BS, plan.LR, plan.HS16, plan.MergePath, plan.Bits} {
		for _, countOnly := range []bool{false, true} {
			batch.Reset()
			batch.Algorithm, batch.CountOnly = a, countOnly
			for h := range lists {
				for k := range h + 1 {
					batch.Add(src, plan.Handle(h), plan.Handle(k))
				}
			}
			batch.Add(src, 0, 4, 8)
			batch.Add(src)
			if err := s.Intersect(ctx, &batch, &got); err != nil {
				return err
			}
			for i := range batch.Queries() {
				want := plainIntersect(lists, batch.Query(i))
				if got.Count(i) != uint64(len(want)) {
					return failed("%s, query over lists %v: %d matches, expected %d", a, batch.Query(i), got.Count(i), len(want))
				}
				if !countOnly && !slices.Equal(got.Query(i), want) {
					return failed("%s, query over lists %v: docIDs differ from pure Go", a, batch.Query(i))
				}
			}
		}
	}
	return s.selfTestFormulas(ctx, lists, failed)
}

// selfTestSource has three shapes of lists under each codec: spread, clustered
// with gaps that make exceptions, dense.
func selfTestSource() (*plan.Source, [][]uint32, error) {
	const docs = 40000
	shapes := make([][]uint32, 3)
	for d := uint32(1); d < docs; d++ {
		h := d * 2654435761
		if h>>20%41 == 0 {
			shapes[0] = append(shapes[0], d)
		}
		if d/700%5 == 1 && h>>16%3 == 0 {
			shapes[1] = append(shapes[1], d)
		}
		if h>>18%5 < 2 {
			shapes[2] = append(shapes[2], d)
		}
	}
	src := &plan.Source{Docs: docs}
	var lists [][]uint32
	for _, id := range codec.IDs() {
		for _, docs := range shapes {
			if _, err := src.Append(id, docs, codec.DefaultOptions()); err != nil {
				return nil, nil, err
			}
			lists = append(lists, docs)
		}
	}
	return src, lists, nil
}

// plainIntersect is the plainest intersection there is.
func plainIntersect(lists [][]uint32, query []plan.Handle) []uint32 {
	if len(query) == 0 {
		return nil
	}
	found := lists[query[0]]
	for _, h := range query[1:] {
		found = plan.Merge(found, lists[h])
	}
	return found
}
