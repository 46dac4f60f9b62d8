package querylog

import (
	"context"
	"fmt"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// mergeSample is how many queries are also answered by a plain merge.
const mergeSample = 64

// checker compares the answers of everything that runs on one workload: with
// each other, all of them, and with a plain merge of the lists, a sample.
type checker struct {
	sample map[int]uint64 // digests by query
	want   []uint64       // digests of the first that ran, of all its queries
	first  string         // who that was
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
			left = plan.Merge(left, l)
		}
		digests[i] = workload.Digest(left)
		return nil
	})
	for i, q := range picked {
		c.sample[q] = digests[i]
	}
	return c, err
}

// check compares the answers of one run, those of queries 0 to len(got)-1.
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

// String says what was compared.
func (c *checker) String() string {
	return fmt.Sprintf("verified: %d runs gave the same answers to all of up to %d queries, %d of them those of a plain merge",
		c.runs, len(c.want), len(c.sample))
}
