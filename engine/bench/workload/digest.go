package workload

import "heddle/engine/plan"

// Digest returns a checksum of an answer that depends on every docID and its position.
func Digest(docs []uint32) uint64 {
	d := Mix(uint64(len(docs)))
	for _, x := range docs {
		d = (d ^ uint64(x)) * 0x9e3779b97f4a7c15
		d ^= d >> 29
	}
	return d
}

// Digests fills dst with the digests of the answers of a batch.
func Digests(dst []uint64, r *plan.Results) {
	for i := range dst {
		dst[i] = Digest(r.Query(i))
	}
}
