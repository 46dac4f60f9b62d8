package codec

import (
	"fmt"
	"math"
	"slices"
)

// Append encodes docs with codec id, appends the words to dst and returns the
// extended slice. docs must be strictly increasing; otherwise, or when opt or id
// is not valid, dst comes back as it was, with an error. Only RPFD needs memory
// beside dst, a few words a docID.
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
	switch id {
	case Raw:
		return append(dst, docs...), nil
	case ParaPFor:
		return appendParaPFor(dst, docs, opt), nil
	case Bitset:
		return appendBitset(dst, docs), nil
	case VByte:
		return appendVByte(dst, docs), nil
	case Rice:
		return appendRice(dst, docs), nil
	case PFD:
		return appendPFD(dst, docs), nil
	case NewPFD:
		return appendNewPFD(dst, docs), nil
	case RPFD:
		return appendRPFD(dst, docs, opt), nil
	case LRC:
		return appendLRC(dst, docs), nil
	case LRCSeg:
		return appendLRCSeg(dst, docs), nil
	case SegLRC:
		return appendSegLRC(dst, docs), nil
	case HSLRC128, HSLRC256:
		return appendHSLRC(dst, docs, id), nil
	}
	return dst, fmt.Errorf("codec: unknown codec %d", id)
}

// Size is the number of words that Append would add for docs, 0 for a codec
// that does not exist. For gap codecs it costs about as much as encoding.
func Size(id ID, docs []uint32, opt Options) int {
	switch id {
	case Raw:
		return len(docs)
	case ParaPFor:
		return sizeParaPFor(docs, opt)
	case Bitset:
		return sizeBitset(docs)
	case VByte:
		return sizeVByte(docs)
	case Rice:
		return sizeRice(docs)
	case PFD:
		return sizePFD(docs)
	case NewPFD:
		return sizeNewPFD(docs)
	case RPFD:
		return sizeRPFD(docs, opt)
	case LRC:
		return sizeLRC(docs)
	case LRCSeg:
		return sizeLRCSeg(docs)
	case SegLRC:
		return sizeSegLRC(docs)
	case HSLRC128, HSLRC256:
		return sizeHSLRC(docs, id)
	}
	return 0
}

// disorder returns the first index whose docID is not above the one before, 0
// if there is none.
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
