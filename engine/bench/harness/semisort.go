package harness

import (
	"math/bits"

	"heddle/engine/bench/workload"
)

// semiSort orders the queries of a batch by the length of their shortest lists, in classes
// of powers of two, so that work-groups beside each other have about equal work (Wu et al.
// 2010, section V.B.2). It is not safe for concurrent use.
type semiSort struct {
	queries []workload.Query // in the order of their classes
	from    []int            // place of each query in the batch
}

// order fills s with the queries of a batch. shortest returns the length of the shortest
// list of the query at a place in the batch.
func (s *semiSort) order(batch []workload.Query, shortest func(i int) uint32) {
	var ends [33]int // by class, and then the next place of a query of the class
	for i := range batch {
		ends[bits.Len32(shortest(i))]++
	}
	next := 0
	for class, n := range ends {
		ends[class], next = next, next+n
	}
	s.queries, s.from = make([]workload.Query, len(batch)), make([]int, len(batch))
	for i, q := range batch {
		class := bits.Len32(shortest(i))
		s.queries[ends[class]], s.from[ends[class]] = q, i
		ends[class]++
	}
}
