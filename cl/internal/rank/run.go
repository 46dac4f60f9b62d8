package rank

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
)

// run answers the queries of a round, window by window.
func (x *slot) run(ctx context.Context, c *cut, st *plan.Stats) error {
	defer x.ReleaseEvents()
	for first := true; ; first = false {
		for c.elements == 0 && c.end < c.ranges { // no list has documents in the window
			if err := c.window(); err != nil {
				return err
			}
		}
		if err := x.makeRoom(ctx, c, first); err != nil {
			return err
		}
		c.write(x.Up.Words)
		if err := x.Run(ctx, "ranking", func() error { return x.send(c, first) }); err != nil {
			return err
		}
		st.BytesUp += uint64(4 * c.words)
		if x.Device.CountLoads {
			st.BytesMoved += c.moved
		}
		if c.end == c.ranges {
			break
		}
		if err := c.window(); err != nil {
			return err
		}
	}
	st.BytesDown += uint64(len(c.queries) * (16 + 8*c.batch.K))
	if err := x.AddTimes(st); err != nil {
		return err
	}
	return x.collect(c)
}

// makeRoom makes room for a window.
func (x *slot) makeRoom(ctx context.Context, c *cut, first bool) error {
	if c.global() {
		if err := x.openGlobal(); err != nil {
			return err
		}
	}
	scored := c.elements
	if c.batch.Mode == plan.And {
		scored = 0
	}
	if err := x.roomForLists(c, scored); err != nil {
		return err
	}
	queries := len(c.queries)
	if first { // their content stays from window to window
		if err := x.rooms([]need{
			{&x.keys, 2 * queries * c.capacity, 2 * c.shape.keys, "candidates"},
			{&x.state, resultWords(queries, c.batch.K), resultWords(maxQueries, 0) + 2*maxBest, "states of queries and the best documents"},
		}); err != nil {
			return err
		}
	}
	return x.Grow(ctx, &x.Down, resultWords(queries, c.batch.K))
}

// resultWords is the number of words of the states of queries, and of their best documents
// behind them. Both come in one download.
func resultWords(queries, k int) int { return queries * (selectState + 2*k) }

// roomForLists makes room for the lists of a window and for the given number of
// components.
func (x *slot) roomForLists(c *cut, scored int) error {
	return x.rooms([]need{
		{&x.docs, c.elements, c.shape.postings, "decoded lists of ranked queries"},
		{&x.components, scored, c.shape.postings, "term-frequency components"},
		{&x.starts, len(c.parts) * (c.end - c.first + 1), c.shape.starts, "starts of ranges"},
		{&x.runs, c.allRuns() * lists.RunWords, c.shape.postings / lists.RunLen * lists.RunWords, "runs"},
	})
}

// send enqueues a window: decoding, term-frequency components, passes, and after the last
// window the download. It runs in Runtime.Do.
func (x *slot) send(c *cut, first bool) error {
	if err := x.sendLists(c, first); err != nil {
		return err
	}
	var err error
	if c.batch.Mode == plan.Or {
		err = x.sendComponents(c)
	}
	switch {
	case err != nil:
	case c.global():
		err = x.sendGlobal(c, first)
	default:
		err = x.sendPasses(c)
	}
	if err != nil {
		return err
	}
	if c.end < c.ranges {
		return x.Queue.Flush()
	}
	return x.Read(x.state.Buffer, resultWords(len(c.queries), c.batch.K))
}

// log2 returns the least number of bits b with 1<<b >= n.
func log2(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// collect sorts the best documents of the queries of the round. Queries that lost
// candidates run again.
func (x *slot) collect(c *cut) error {
	found := &x.found
	queries, k := len(c.queries), c.batch.K
	states := x.Down.Words[:selectState*queries]
	keys := unsafe.Slice((*uint64)(unsafe.Pointer(&x.Down.Words[selectState*queries])), queries*k)
	at := len(found.keys)
	for i, q := range c.queries {
		count := states[selectState*i]
		if count != selectLost && int(count) > k || count == selectLost && c.safe {
			// Lists with repeated docIDs have more candidates than documents.
			return fmt.Errorf("cl: ranked query %d: %d of the best %d documents, of %d candidates: %w", q, count, k, c.capacity, codec.ErrCorrupt)
		}
		if count == selectLost {
			if c.second {
				c.again = append(c.again, q)
			} else {
				c.lost = append(c.lost, q)
			}
			continue
		}
		found.spans[q] = [2]int{at, at + int(count)}
		at += int(count)
	}
	found.keys = slices.Grow(found.keys, at-len(found.keys))[:at]
	_ = device.InParallel(queries, at, func(i int) error {
		if states[selectState*i] != selectLost {
			q := found.spans[c.queries[i]]
			best := found.keys[q[0]:q[1]]
			copy(best, keys[i*k:])
			slices.Sort(best)
			slices.Reverse(best)
		}
		return nil
	})
	return nil
}
