package codec

import "math/bits"

// leastWidth returns a lower bound of the width of the lambdas of docs along any line. It reads some
// dozen docIDs instead of all. The second difference of docIDs, docID(i) - 2 docID(i+h) + docID(i+2h), is
// the sum of the second differences of the line and of the lambdas. It is -1, 0 or 1 for the line, because
// its values are rounded. For three lambdas between 0 and w it is between -2 w and 2 w.
func leastWidth(docs []uint32) uint {
	most := int64(0)
	h := (len(docs) - 1) / 2
	for range 5 { // halvings
		if h == 0 {
			break
		}
		for i := 0; i+2*h < len(docs); i += h {
			bend := int64(docs[i]) - 2*int64(docs[i+h]) + int64(docs[i+2*h])
			most = max(most, bend, -bend)
		}
		h /= 2
	}
	return uint(bits.Len64(uint64(most) / 2)) // most-1 over 2, rounded up
}

// leastLRC, leastSegments and leastHashed return lower bounds of the sizes of the line codecs, in words.

func leastLRC(docs []uint32, _ [33]int, _ Options) int {
	return globalHeader + lineSegments(docs) + lambdaWords(len(docs), leastWidth(docs))
}

// leastSegments returns the lower bound of a codec whose segments have their own widths, behind a header of the
// given number of words.
func leastSegments(header int) lowerBound {
	return func(docs []uint32, _ [33]int, _ Options) int {
		words := header + (1+segmentWords)*lineSegments(docs)
		for k := range lineSegments(docs) {
			segment := lineSegment(docs, k)
			words += lambdaWords(len(segment), leastWidth(segment))
		}
		return words
	}
}

func leastHashed(size uint32) lowerBound {
	return func(docs []uint32, _ [33]int, _ Options) int {
		shift, buckets := hashBuckets(docs, size)
		words := bucketHeader + bucketWords*(buckets+1)
		for start := 0; start < len(docs); {
			end := bucketEnd(docs, start, int(docs[start]>>shift), shift)
			words += lambdaWords(end-start, leastWidth(docs[start:end]))
			start = end
		}
		return words
	}
}
