package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
)

// cut cuts a batch of ranked queries into rounds: as many queries as fit, or one query
// alone, by windows of documents if its lists are longer than the scratch memory.
type cut struct {
	set   *lists.Set
	batch *plan.RankBatch
	data  *extra
	shape shape
	span  int // documents of a range

	query int    // the next one
	done  []bool // queries that are answered
	// Queries that lost candidates share the room with fewer others in a second run. Queries
	// that lost some again run alone.
	lost, again []int

	// The fields below belong to one round.
	queries  []int               // their numbers in the batch
	second   bool                // a second run of queries that lost candidates
	safe     bool                // no pass may lose candidates
	capacity int                 // candidates of a query
	matches  float64             // matches of all queries at most
	greatest float64             // matches of one query at most
	known    map[plan.Handle]int // numbers in parts
	terms    int
	ranges   int // ranges of all documents

	first, end int    // ranges of the window
	parts      []part // lists
	elements   int    // elements of all parts, each rounded up to lists.DecodeRound
	runs       [1 + len(lists.Decoders)]int
	words      int // words of the upload
	termsAt    int // in uint4
	queriesAt  int
	filtered   bool   // a query has a filter
	moved      uint64 // bytes that the kernels load and store, without selection
}

// part is the part of a list that a window needs.
type part struct {
	list           plan.Handle
	begin, count   uint32
	to, firstRun   uint32 // to in units of four words
	starts         uint32
	decoder, words int32  // decoder, or noDecoder; words of frequencies
	sought         uint64 // documents to search for; all bits set for the shortest list of a query
}

// nextRound makes the next round and its first window. It reports false at the end.
func (c *cut) nextRound() (bool, error) {
	c.queries, c.parts, c.terms, c.matches, c.greatest = c.queries[:0], c.parts[:0], 0, 0, 0
	clear(c.known)
	c.ranges = int((uint64(c.set.Src.Docs) + uint64(c.span) - 1) / uint64(c.span))
	c.safe, c.second = false, false
	for ; c.query < c.batch.Queries(); c.query++ {
		if taken, err := c.take(c.query, len(c.queries) == 0); err != nil {
			return false, err
		} else if !taken {
			break
		}
	}
	for len(c.lost) > 0 && (c.second || len(c.queries) == 0) {
		if taken, err := c.take(c.lost[0], len(c.queries) == 0); err != nil {
			return false, err
		} else if !taken {
			break
		}
		c.lost, c.second = c.lost[1:], true
	}
	if len(c.again) > 0 && len(c.queries) == 0 {
		if _, err := c.take(c.again[0], true); err != nil {
			return false, err
		}
		c.again, c.safe = c.again[1:], true
	}
	if len(c.queries) == 0 {
		return false, nil
	}
	c.setCapacity()
	c.first, c.end = 0, 0
	return true, c.window()
}

// take adds a query to the round if there is room, or if the query is alone.
func (c *cut) take(i int, alone bool) (bool, error) {
	q := c.batch.Query(i)
	postings := c.set.Src.Lists
	if len(q) == 0 || c.done[i] || postings[q[len(q)-1].List].Len == 0 || c.batch.Mode == plan.And && postings[q[0].List].Len == 0 {
		return true, nil // a query without matches, or answered
	}
	if len(q) > maxTerms {
		return false, fmt.Errorf("cl: ranked query %d has %d terms, at most %d are possible", i, len(q), maxTerms)
	}
	before, elements := len(c.parts), c.elements
	if before == 0 {
		elements = 0
	}
	for _, t := range q {
		n := postings[t.List].Len
		if _, ok := c.known[t.List]; !ok && n > 0 {
			c.known[t.List] = len(c.parts)
			c.parts = append(c.parts, part{list: t.List, count: n})
			elements += roundUp(int(n), lists.DecodeRound)
		}
	}
	queries := len(c.queries) + 1
	if !alone && (elements > c.shape.postings || len(c.parts)*(c.ranges+1) > c.shape.starts ||
		c.terms+len(q) > maxTerms || queries > maxQueries || queries*c.batch.K > maxBest ||
		queries*2*(c.span+c.batch.K) > c.shape.keys) {
		c.parts = c.parts[:before] // the round is complete, and known serves its own lists alone
		return false, nil
	}
	c.elements = elements
	c.terms += len(q)
	c.queries = append(c.queries, i)
	matches := 0.0
	for _, t := range q {
		matches += float64(postings[t.List].Len)
		if c.batch.Mode == plan.And {
			break
		}
	}
	c.matches += matches
	c.greatest = max(c.greatest, matches)
	return true, nil
}

// allRuns is the number of runs of all decoders.
func (c *cut) allRuns() (n int) {
	for _, runs := range c.runs {
		n += runs
	}
	return n
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// window makes the next window: all ranges, or as many as there is room for.
func (c *cut) window() error {
	c.first = c.end
	for n := c.ranges - c.first; ; n = (n + 1) / 2 {
		c.end = c.first + n
		if err := c.place(); err != nil {
			return err
		}
		if n == 1 || c.elements <= c.shape.postings && len(c.parts)*(n+1) <= c.shape.starts {
			return nil
		}
	}
}

// seek counts the documents that ranked AND searches for in each list.
func (c *cut) seek() {
	if c.batch.Mode != plan.And {
		return
	}
	for i := range c.parts {
		c.parts[i].sought = 0
	}
	const shortest = math.MaxUint64
	for _, i := range c.queries {
		q := c.batch.Query(i)
		n := uint64(c.set.Src.Lists[q[0].List].Len)
		for j, t := range q {
			switch p := &c.parts[c.known[t.List]]; {
			case j == 0:
				p.sought = shortest
			case p.sought < shortest:
				p.sought += n
			}
		}
	}
}

// isSought tells whether the list stays compressed, because there are fewer documents to
// search for than it has segments.
func (p *part) isSought(list codec.List) bool {
	return list.Codec == codec.ParaPFor && p.sought > 0 && p.sought < uint64(list.Len)/codec.SegmentLen
}

// place gives the parts of the lists that the window needs their places. Parts of one
// decoder lie together.
func (c *cut) place() error {
	whole := c.first == 0 && c.end == c.ranges
	c.seek()
	for i := range c.parts {
		p := &c.parts[i]
		list := c.set.Src.List(p.list)
		p.decoder, p.words = int32(lists.DecoderOf(list.Codec)), int32(c.set.Src.Lists[p.list].FreqWords)
		p.begin, p.count = 0, list.Len
		switch {
		case p.isSought(list):
			p.count = 0
		case !whole:
			begin, end, err := lists.Between(list, uint32(c.first*c.span), uint32(c.end*c.span-1))
			if err != nil {
				return fmt.Errorf("list %d: %w", p.list, err)
			}
			p.begin, p.count = begin, end-begin
		}
	}
	slices.SortStableFunc(c.parts, func(x, y part) int { return cmp.Compare(x.decoder, y.decoder) })
	clear(c.runs[:])
	c.elements = 0
	runs := 0
	for i := range c.parts {
		p := &c.parts[i]
		c.known[p.list] = i
		p.to, p.firstRun, p.starts = uint32(c.elements/4), uint32(runs), uint32(i*(c.end-c.first+1))
		n := (int(p.count) + lists.RunLen - 1) / lists.RunLen
		c.runs[p.decoder-lists.NoDecoder] += n
		runs += n
		c.elements += roundUp(int(p.count), lists.DecodeRound)
	}
	c.count()
	if c.elements > math.MaxInt32 {
		return fmt.Errorf("cl: lists of a ranked query have %d postings in a range of documents", c.elements)
	}
	return nil
}
