package codec

import (
	"fmt"
	"math"
	"slices"
)

// Append encodes docs with codec id, appends the words to dst and returns the
// extended slice. docs must be strictly increasing. If docs, opt or id is not
// valid, it returns an error and dst unchanged. Only RPFD needs memory besides
// dst, a few words a docID.
func Append(dst []uint32, id ID, docs []uint32, opt Options) ([]uint32, error) {
	if err := opt.Validate(); err != nil {
		return dst, err
	}
	if uint64(len(docs)) > math.MaxUint32 {
		return dst, fmt.Errorf("codec: %d docIDs in one list", len(docs))
	}
	if i := disorder(docs); i > 0 {
		return dst, fmt.Errorf("codec: docIDs do not ascend: %d behind %d at index %d", docs[i], docs[i-1], i)
	}
	d := id.row()
	if d.encode == nil {
		return dst, fmt.Errorf("codec: unknown codec %d", id)
	}
	return d.encode(dst, docs, opt), nil
}

// Size returns the number of words that Append would add for docs, 0 for an
// unknown codec. For gap codecs it takes about as long as encoding.
func Size(id ID, docs []uint32, opt Options) int {
	if d := id.row(); d.size != nil {
		return d.size(docs, opt)
	}
	return 0
}

// disorder returns the first index whose docID is not above the docID before it, 0 if
// docs ascend.
func disorder(docs []uint32) int {
	for i := 1; i < len(docs); i++ {
		if docs[i] <= docs[i-1] {
			return i
		}
	}
	return 0
}

// appendZeros appends n zeros.
func appendZeros(dst []uint32, n int) []uint32 {
	dst = slices.Grow(dst, n)
	dst = dst[:len(dst)+n]
	clear(dst[len(dst)-n:])
	return dst
}
