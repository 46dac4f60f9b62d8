package codec

import "math/bits"

// BucketShift returns the shift of hash segmentation (Ao et al. 2011, section 4.4):
// the bucket of x is x >> shift. n is the length of the list, bucket the wanted
// number of docIDs in a bucket, at least 1.
//
// Let k be the least number with universe <= 2^k, and m the least number with
// n/bucket <= 2^m, but at most k. Then the shift is k-m, and 2^m buckets divide the
// universe. The shift is 31 where k-m is 32, because OpenCL C does not define a
// shift by 32. Such a list has two buckets instead of one.
func BucketShift(n, universe, bucket uint32) uint8 {
	k := bits.Len32(max(universe, 1) - 1)
	need := (uint64(n) + uint64(bucket) - 1) / uint64(bucket)
	m := bits.Len64(max(need, 1) - 1)
	return uint8(min(k-min(m, k), 31))
}

// AppendBuckets appends the bucket table of docs to dst. The list has d = (last docID
// >> shift) + 1 buckets and the table d+1 entries. Entry h is the index of the first
// docID in bucket h or above; entry d is len(docs). So the docIDs of bucket h are
// docs[entry h : entry h+1]. The table of an empty list is one entry, 0.
func AppendBuckets(dst, docs []uint32, shift uint8) []uint32 {
	h := uint64(0)
	for i, d := range docs {
		for ; h <= uint64(d>>shift); h++ {
			dst = append(dst, uint32(i))
		}
	}
	return append(dst, uint32(len(docs)))
}
