package lists

import (
	"heddle/codec"
	"heddle/engine/plan"
)

// CoreCodecs are the codecs that the kernels of every device read. Gap codecs can only be
// the shortest list of a query there.
var CoreCodecs = []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset}

// Sample makes lists for self-tests. They have three shapes in each codec: spread,
// clustered with gaps that make exceptions, and dense. Without codecs it uses CoreCodecs.
func Sample(codecs ...codec.ID) (*plan.Source, [][]uint32, error) {
	if len(codecs) == 0 {
		codecs = CoreCodecs
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
	var postings [][]uint32
	for _, id := range codecs {
		for _, docs := range shapes {
			if _, err := src.Append(id, docs, codec.DefaultOptions()); err != nil {
				return nil, nil, err
			}
			postings = append(postings, docs)
		}
	}
	return src, postings, nil
}
