package cl

import (
	"heddle/codec"
	"heddle/engine/plan"
)

// coreCodecs are the codecs that the kernels of every device read. Gap codecs can only be
// the shortest list of a query there.
var coreCodecs = []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset}

// sampleLists makes lists for self-tests: three shapes under each codec, spread, clustered
// with gaps that make exceptions, and dense. Without codecs it takes the core ones.
func sampleLists(codecs ...codec.ID) (*plan.Source, [][]uint32, error) {
	if len(codecs) == 0 {
		codecs = coreCodecs
	}
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
	for _, id := range codecs {
		for _, docs := range shapes {
			if _, err := src.Append(id, docs, codec.DefaultOptions()); err != nil {
				return nil, nil, err
			}
			lists = append(lists, docs)
		}
	}
	return src, lists, nil
}

// plainIntersect intersects lists one after the other.
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
