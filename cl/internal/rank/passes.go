package rank

import (
	"math"
)

// setCapacity divides the room for candidates among the queries. A small number of queries
// gets no more than one work-group cuts fast, if few candidates are expected.
func (c *cut) setCapacity() {
	most := min(c.shape.keys/len(c.queries), int(c.set.Src.Docs)+c.batch.K+2)
	first, k := float64(c.firstPass()), float64(c.batch.K)
	expected := max(first*c.mostPerRange(), k*float64(c.ranges)/first)
	if wide := selectWide(c.set.Device.Tuning); !c.safe && len(c.queries) <= fewQueries && 2*expected+k < float64(wide) {
		most = min(most, wide)
	}
	c.capacity = most &^ 1
}

// mostPerRange is perRange of the query with most matches.
func (c *cut) mostPerRange() float64 {
	return max(min(c.greatest/float64(c.ranges), float64(c.span)), 1)
}

// perRange is the expected number of matches of a query in a range.
func (c *cut) perRange() float64 {
	n := c.matches / float64(len(c.queries)*c.ranges)
	return max(min(n, float64(c.span)), 1)
}

// pass is the ranges of a window from begin to end: with only, the multiples of every,
// else the rest of them, or all if every is 1.
type pass struct {
	begin, end, every int
	only              bool
}

// passes divides the ranges of the window. After each pass the candidates of each query
// are cut to the best k, whose last key is the threshold of later candidates. The first
// pass takes ranges from everywhere, because the topics of documents may depend on their
// place. Passes are so short that twice the expected candidates fit. A query that loses
// candidates runs again, in passes that cannot lose any.
func (c *cut) passes() (passes []pass) {
	k, n := c.batch.K, c.end-c.first
	most := max((c.capacity-k)/c.span, 1) // ranges that cannot lose candidates
	half := float64(c.capacity-k) / 2
	every, seen := 1, c.first
	if m := c.firstPass(); c.first == 0 && m < n {
		if c.safe {
			m = min(m, most)
		} else {
			m = max(min(m, int(half/c.mostPerRange())), 1)
		}
		if every = (n + m - 1) / m; every > 1 {
			passes = append(passes, pass{c.first, c.end, every, true})
			seen = (n + every - 1) / every
		}
	}
	if c.capacity > int(c.set.Src.Docs)+k {
		most = c.ranges
	}
	for done := c.first; done < c.end; {
		m := most
		if !c.safe && seen > 0 {
			// Given the best k of the ranges seen, k times the growth are expected.
			m = max(most, int(min(float64(seen)*half/float64(k), float64(c.ranges))))
		}
		m = min(m, max(maxGroups/len(c.queries), 1), c.end-done)
		passes = append(passes, pass{done, done + m, every, false})
		done += m
		seen += m
	}
	return passes
}

// firstPass is a number of ranges that leaves few candidates in both passes: d ranges of m
// matches each give d*m of them, and k*ranges/d in the second pass. It is not so small
// that all its ranges could be untypical.
func (c *cut) firstPass() int {
	m := c.perRange()
	if float64(c.ranges)*m < 1<<12 { // little either way
		return c.ranges
	}
	return max(int(math.Sqrt(float64(c.batch.K)*float64(c.ranges)/m)), c.ranges/64, 1)
}

// fewQueries is the number of queries that keep a device busy with a work-group each.
const fewQueries = 64
