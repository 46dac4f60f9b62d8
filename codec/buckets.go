package codec

import "math/bits"

// BucketShift is the hash function of hash segmentation (Ao et al. 2011, section
// 4.4): bucket of x = x >> shift. With k the least number such that universe <=
// 2^k, and m the least such that n/bucket <= 2^m, but at most k, the shift is
// k-m: 2^m buckets share the universe, of about bucket docIDs each.
//
// The shift is at most 31, also where k-m is 32, because OpenCL C does not
// define a shift of 32; such a list has two buckets instead of one. bucket must
// not be 0.
func BucketShift(n, universe, bucket uint32) uint8 {
	k := bits.Len32(max(universe, 1) - 1)
	need := (uint64(n) + uint64(bucket) - 1) / uint64(bucket)
	m := bits.Len64(max(need, 1) - 1)
	return uint8(min(k-min(m, k), 31))
}

// AppendBuckets appends the bucket table of docs under shift to dst: with d =
// (last docID >> shift) + 1 buckets, d+1 entries, entry h the index of the first
// docID whose bucket is h or above, entry d = len(docs). So the docIDs of bucket
// h are docs[entry h : entry h+1], and a docID of a bucket above d-1 is not in
// the list. The table of an empty list is one entry, 0.
func AppendBuckets(dst, docs []uint32, shift uint8) []uint32 {
	h := uint64(0)
	for i, d := range docs {
		for ; h <= uint64(d>>shift); h++ {
			dst = append(dst, uint32(i))
		}
	}
	return append(dst, uint32(len(docs)))
}
