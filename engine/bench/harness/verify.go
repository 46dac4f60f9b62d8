package harness

import (
	"context"
	"fmt"

	"heddle/engine/bench/workload"
	"heddle/engine/plan/reference"
)

// mergeSample is the number of queries that are also answered by a plain merge.
const mergeSample = 64

// checker compares the answers of all runs on one workload with each other, and a
// sample of them with a plain merge of the lists.
type checker struct {
	sample map[int]uint64 // digests by query
	want   []uint64       // digests of all queries, from the first run
	first  string         // name of the first run
	runs   int
}

// newChecker merges the lists of a sample of the first n queries.
func newChecker(ctx context.Context, w *workload.Workload, n int) (*checker, error) {
	n = min(n, len(w.Queries))
	c := &checker{sample: make(map[int]uint64)}
	picked := make([]int, min(mergeSample, n))
	digests := make([]uint64, len(picked))
	for i := range picked {
		picked[i] = i * n / len(picked)
	}
	err := workload.Each(ctx, len(picked), func(i int) error {
		lists := w.Sorted(w.Queries[picked[i]])
		left := lists[0]
		for _, l := range lists[1:] {
			left = reference.Intersect(left, l)
		}
		digests[i] = workload.Digest(left)
		return nil
	})
	for i, q := range picked {
		c.sample[q] = digests[i]
	}
	return c, err
}

// Check compares the answers of one run to queries 0 to len(got)-1.
func (c *checker) Check(who string, got []uint64) error {
	for q, want := range c.sample {
		if q < len(got) && got[q] != want {
			return fmt.Errorf("%s: the answer to query %d is not that of a plain merge", who, q)
		}
	}
	for q := range min(len(c.want), len(got)) {
		if got[q] != c.want[q] {
			return fmt.Errorf("%s: the answer to query %d is not that of %s", who, q, c.first)
		}
	}
	if len(got) > len(c.want) {
		c.want, c.first = got, who
	}
	c.runs++
	return nil
}

// String describes the comparisons.
func (c *checker) String() string {
	return fmt.Sprintf("verified: %d runs gave the same answers to all of up to %d queries, %d of them the answers of a plain merge",
		c.runs, len(c.want), len(c.sample))
}
