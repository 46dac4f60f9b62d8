package resultcache_test

import (
	"fmt"

	"heddle/engine/internal/resultcache"
	"heddle/engine/plan"
)

func Example() {
	answers := resultcache.New[[]uint32](64 << 20)
	const index = 0x1234 // its checksum
	search := func(lists ...plan.Handle) []uint32 {
		k := resultcache.Key(nil).And(index, lists, false)
		if docs, ok := answers.Get(k); ok {
			fmt.Println("found")
			return docs
		}
		docs := []uint32{3, 5, 8} // where the query runs
		answers.Put(k, docs, uint64(4*len(docs)))
		return docs
	}
	fmt.Println(search(7, 9))
	fmt.Println(search(9, 7, 7)) // means the same
	s := answers.Stats()
	fmt.Println(s.Hits, s.Misses, s.Entries)
	// Output:
	// [3 5 8]
	// found
	// [3 5 8]
	// 1 1 1
}
