package codec

import "math"

// appendHSLRC writes a line a hash bucket.
func appendHSLRC(dst, docs []uint32, id ID) []uint32 {
	if len(docs) == 0 {
		return dst
	}
	shift, buckets := id.buckets(docs)
	dst = append(dst, uint32(shift), uint32(buckets), 0, 0)
	rec := len(dst)
	dst = appendZeros(dst, bucketWords*(buckets+1))
	payload := len(dst)
	start := 0
	for h := range buckets {
		end := bucketEnd(docs, start, h, shift)
		r := dst[rec+bucketWords*h:]
		r[0], r[3] = uint32(start), uint32(len(dst)-payload)
		if bucket := docs[start:end]; len(bucket) > 0 {
			f := fit(bucket, roundSlope)
			r[1], r[2] = uint32(f.base), uint32(makeLineRecord(f))
			dst = appendLambdas(dst, bucket, 0, f)
		}
		start = end
	}
	end := dst[rec+bucketWords*buckets:]
	end[0], end[3] = uint32(len(docs)), uint32(len(dst)-payload)
	return dst
}

func sizeHSLRC(docs []uint32, id ID) int {
	if len(docs) == 0 {
		return 0
	}
	shift, buckets := id.buckets(docs)
	words := bucketHeader + bucketWords*(buckets+1)
	for start := 0; start < len(docs); {
		end := bucketEnd(docs, start, int(docs[start]>>shift), shift)
		words += lambdaWords(end-start, fit(docs[start:end], roundSlope).b)
		start = end
	}
	return words
}

// buckets gives the shift for docs, not empty, and the number of buckets up to
// that of the last docID.
func (id ID) buckets(docs []uint32) (shift uint8, n int) {
	size, last := uint32(256), docs[len(docs)-1]
	if id == HSLRC128 {
		size = 128
	}
	shift = BucketShift(uint32(len(docs)), max(last, last+1), size) // last+1 may wrap
	return shift, int(last>>shift) + 1
}

// bucketEnd is the index of the first docID from start on that is not in bucket
// h.
func bucketEnd(docs []uint32, start, h int, shift uint8) int {
	top := uint32(min((uint64(h)+1)<<shift-1, math.MaxUint32))
	for start < len(docs) && docs[start] <= top {
		start++
	}
	return start
}
