package reference

import "slices"

// Within returns the documents that are in a set: bit d%64 of word d/64 is document d. A nil set
// has all documents. It reuses the memory of docs.
func Within(docs []uint32, set []uint64) []uint32 {
	return slices.DeleteFunc(docs, func(d uint32) bool { return !has(set, d) })
}

// HitsWithin returns the hits whose documents are in a set, as Within does.
func HitsWithin(hits []Hit, set []uint64) []Hit {
	return slices.DeleteFunc(hits, func(h Hit) bool { return !has(set, h.Doc) })
}

func has(set []uint64, doc uint32) bool { return set == nil || set[doc/64]>>(doc%64)&1 != 0 }
