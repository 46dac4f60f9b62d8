package plantest

import (
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// DecodedBlocks answers a conjunction one document of the shortest list after the other,
// and returns the number of blocks with a docID that it reads: all of the shortest list, and
// of each next list the block in which the seek to a document ends (Ding et al. 2009, section
// 8.1). With a tile above 0 the documents of the shortest list come in tiles of so many, and
// each tile reads the blocks of the next lists anew.
func DecodedBlocks(t Failer, src *plan.Source, query []plan.Handle, tile int) (blocks uint64) {
	views, docs, entered := make([]codec.Blocks, len(query)), make([][]uint32, len(query)), make([]int, len(query))
	for i, h := range query {
		l := src.List(h)
		var err error
		if err = views[i].Open(l); err == nil {
			docs[i], err = l.AppendTo(nil)
		}
		if err != nil {
			t.Fatalf("list %d: %v", h, err)
		}
		entered[i] = -1
	}
	for n, doc := range docs[0] {
		for i := 1; i < len(docs) && tile > 0 && n%tile == 0; i++ {
			entered[i] = -1
		}
		for i := range docs {
			at, found := slices.BinarySearch(docs[i], doc)
			if at == len(docs[i]) {
				break
			}
			k := entered[i]
			for k < 0 || views[i].Start(k+1) <= at {
				k++
			}
			if k != entered[i] {
				entered[i], blocks = k, blocks+1
			}
			if !found {
				break
			}
		}
	}
	return blocks
}
