package codec

import (
	"math"
	"slices"
)

// appendHSLRC writes one line for each hash bucket of about size docIDs.
func appendHSLRC(dst, docs []uint32, size uint32) []uint32 {
	if len(docs) == 0 {
		return dst
	}
	shift, buckets := hashBuckets(docs, size)
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

func sizeHSLRC(docs []uint32, size uint32) int {
	if len(docs) == 0 {
		return 0
	}
	shift, buckets := hashBuckets(docs, size)
	words := bucketHeader + bucketWords*(buckets+1)
	for start := 0; start < len(docs); {
		end := bucketEnd(docs, start, int(docs[start]>>shift), shift)
		words += lambdaWords(end-start, fit(docs[start:end], roundSlope).b)
		start = end
	}
	return words
}

// hashBuckets returns the shift from docIDs to buckets of about size docIDs, and
// the number of buckets up to the bucket of the last docID. docs is not empty.
func hashBuckets(docs []uint32, size uint32) (shift uint8, n int) {
	last := docs[len(docs)-1]
	shift = BucketShift(uint32(len(docs)), max(last, last+1), size) // last+1 may wrap
	return shift, int(last>>shift) + 1
}

// bucketEnd returns the index of the first docID at or after start that is above
// bucket h.
func bucketEnd(docs []uint32, start, h int, shift uint8) int {
	top := uint32(min((uint64(h)+1)<<shift-1, math.MaxUint32))
	end, step := start, 1
	for end+step <= len(docs) && docs[end+step-1] <= top {
		end += step
		step *= 2
	}
	n, _ := slices.BinarySearchFunc(docs[end:min(end+step, len(docs))], top, func(d, top uint32) int {
		if d <= top {
			return -1
		}
		return 1
	})
	return end + n
}

// hashed returns the encoder for buckets of about size docIDs.
func hashed(size uint32) func(dst, docs []uint32, _ Options) []uint32 {
	return func(dst, docs []uint32, _ Options) []uint32 { return appendHSLRC(dst, docs, size) }
}

// sizeHashed returns the size function for buckets of about size docIDs.
func sizeHashed(size uint32) func(docs []uint32, _ Options) int {
	return func(docs []uint32, _ Options) int { return sizeHSLRC(docs, size) }
}
