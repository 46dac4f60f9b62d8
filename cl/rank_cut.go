package cl

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// rankCut cuts a batch of ranked queries into rounds: as many queries as fit, or one
// query alone, by windows of documents where its lists are longer than the scratch.
// The fields below the line are those of the round.
type rankCut struct {
	store *Store
	ranks *plan.RankBatch
	lists *rankLists
	shape rankShape
	span  int // documents of a range

	query int // the next
	// Queries that lost candidates, which fewer share the room with, and those that
	// lost some again and are to run alone.
	lost, again []int

	queries  []int               // of the batch
	second   bool                // they are queries that have lost candidates
	safe     bool                // no pass may lose candidates
	capacity int                 // candidates of a query
	matches  float64             // of all queries, at most
	greatest float64             // of one of them
	known    map[plan.Handle]int // numbers in parts
	terms    int
	ranges   int // of all documents

	first, end int        // ranges of the window
	parts      []rankPart // lists
	elements   int        // of all parts, with what decoders write behind
	runs       [1 + len(decoders)]int
	words      int // of the upload
	termsAt    int // in uint4
	queriesAt  int
	moved      uint64 // bytes that the kernels ask for, but for those of selection
}

// rankPart is the part of a list that a window needs.
type rankPart struct {
	list           plan.Handle
	begin, count   uint32
	to, firstRun   uint32 // to in units of four words
	starts         uint32
	decoder, words int32  // decoder, or noDecoder; words of frequencies
	sought         uint64 // documents that are looked up, unless it is the shortest of a query
}

// next makes the next round and its first window; false: there is none.
func (c *rankCut) next() (bool, error) {
	c.queries, c.parts, c.terms, c.matches, c.greatest = c.queries[:0], c.parts[:0], 0, 0, 0
	clear(c.known)
	c.ranges = int((uint64(c.store.src.Docs) + uint64(c.span) - 1) / uint64(c.span))
	c.safe, c.second = false, false
	for ; c.query < c.ranks.Queries(); c.query++ {
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

// take adds a query to the round if there is room, or if it is the only one.
func (c *rankCut) take(i int, alone bool) (bool, error) {
	q := c.ranks.Query(i)
	lists := c.store.src.Lists
	if len(q) == 0 || lists[q[len(q)-1].List].Len == 0 || c.ranks.Mode == plan.And && lists[q[0].List].Len == 0 {
		return true, nil // it matches nothing
	}
	if len(q) > rankTerms {
		return false, fmt.Errorf("cl: ranked query %d has %d terms, at most %d are possible", i, len(q), rankTerms)
	}
	before, elements := len(c.parts), c.elements
	if before == 0 {
		elements = 0
	}
	for _, t := range q {
		n := lists[t.List].Len
		if _, ok := c.known[t.List]; !ok && n > 0 {
			c.known[t.List] = len(c.parts)
			c.parts = append(c.parts, rankPart{list: t.List, count: n})
			elements += roundUp(int(n), decodeRound)
		}
	}
	queries := len(c.queries) + 1
	if !alone && (elements > c.shape.postings || len(c.parts)*(c.ranges+1) > c.shape.starts ||
		c.terms+len(q) > rankTerms || queries > rankQueries || queries*c.ranks.K > rankBest ||
		queries*2*(c.span+c.ranks.K) > c.shape.keys) {
		for _, p := range c.parts[before:] {
			delete(c.known, p.list)
		}
		c.parts = c.parts[:before]
		return false, nil
	}
	c.elements = elements
	c.terms += len(q)
	c.queries = append(c.queries, i)
	matches := 0.0
	for _, t := range q {
		matches += float64(lists[t.List].Len)
		if c.ranks.Mode == plan.And {
			break
		}
	}
	c.matches += matches
	c.greatest = max(c.greatest, matches)
	return true, nil
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// window makes the next window: all ranges, or as many as there is room for.
func (c *rankCut) window() error {
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

// seek counts the documents that AND looks up in each list.
func (c *rankCut) seek() {
	if c.ranks.Mode != plan.And {
		return
	}
	for i := range c.parts {
		c.parts[i].sought = 0
	}
	const shortest = math.MaxUint64
	for _, i := range c.queries {
		q := c.ranks.Query(i)
		n := uint64(c.store.src.Lists[q[0].List].Len)
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

// isSought says that the list is not decoded: fewer documents are looked up in it than
// it has segments.
func (p *rankPart) isSought(list codec.List) bool {
	return list.Codec == codec.ParaPFor && p.sought > 0 && p.sought < uint64(list.Len)/codec.SegmentLen
}

// place gives the parts of the lists that the window needs their places, those of a
// decoder together.
func (c *rankCut) place() error {
	whole := c.first == 0 && c.end == c.ranges
	last := min(uint64(c.end)*uint64(c.span), uint64(c.store.src.Docs)) - 1
	c.seek()
	for i := range c.parts {
		p := &c.parts[i]
		list := c.store.src.List(p.list)
		p.decoder, p.words = int32(decoderOf(list.Codec)), int32(c.store.src.Lists[p.list].FreqWords)
		p.begin, p.count = 0, list.Len
		switch {
		case p.isSought(list):
			p.count = 0
		case !whole:
			begin, end, err := elementsBetween(list, uint32(c.first*c.span), uint32(last))
			if err != nil {
				return fmt.Errorf("list %d: %w", p.list, err)
			}
			p.begin, p.count = begin, end-begin
		}
	}
	slices.SortStableFunc(c.parts, func(x, y rankPart) int { return cmp.Compare(x.decoder, y.decoder) })
	clear(c.runs[:])
	c.elements = 0
	runs := 0
	for i := range c.parts {
		p := &c.parts[i]
		c.known[p.list] = i
		p.to, p.firstRun, p.starts = uint32(c.elements/4), uint32(runs), uint32(i*(c.end-c.first+1))
		n := (int(p.count) + runLen - 1) / runLen
		c.runs[p.decoder-noDecoder] += n
		runs += n
		c.elements += roundUp(int(p.count), decodeRound)
	}
	c.count()
	if c.elements > math.MaxInt32 {
		return fmt.Errorf("cl: lists of a ranked query have %d postings in a range of documents", c.elements)
	}
	return nil
}

// count adds up the bytes that the kernels of the window ask for. Of searches it counts
// those for the documents of the shortest list in the next one.
func (c *rankCut) count() {
	c.moved = 0
	ranges := uint64(c.end - c.first)
	or, length := c.ranks.Mode == plan.Or, uint64(4)
	if c.lists.narrow {
		length = 2
	}
	if c.ranks.Norm.Impacts > 0 {
		length = 0
	}
	for _, p := range c.parts {
		l, n := &c.store.src.Lists[p.list], uint64(p.count)
		c.moved += 4*uint64(l.Words)*n/uint64(l.Len) + 8*n + 4*ranges // decoding, and docIDs to find starts
		if or {
			c.moved += 4*uint64(l.FreqWords)*n/uint64(l.Len) + (4+length)*n
		}
	}
	for _, i := range c.queries {
		if c.global() && c.end == c.ranges {
			c.moved += 8 * uint64(c.store.src.Docs) // accumulators are cleared, and looked through
		}
		for j, t := range c.ranks.Query(i) {
			k, ok := c.known[t.List]
			if !ok {
				continue
			}
			n := uint64(c.parts[k].count)
			switch {
			case c.global():
				c.moved += 16 * n // docIDs, shares, and accumulators, there and back
			case or:
				c.moved += 8*n + 8*ranges // docIDs and shares
			case j == 0:
				c.moved += (4+length+12)*n + 8*ranges // the frequency, and where it lies
			case j == 1:
				shortest := uint64(c.store.src.Lists[c.ranks.Query(i)[0].List].Len)
				c.moved += shortest * (8 + 4*uint64(log2(int(n/ranges)+1)))
			}
		}
	}
}

// write puts the window's records into an upload.
func (c *rankCut) write(up []uint32) {
	put := func(words ...uint32) { up = up[copy(up, words):] }
	n := c.ranks.Norm
	put(n.Base, n.Slope, uint32(n.Shift), uint32(n.Impacts))
	for _, p := range c.parts {
		l, at, f := &c.store.src.Lists[p.list], c.store.places[p.list], c.lists.places[p.list]
		put(at.off, l.Len, l.Words, uint32(l.Codec)|at.buffer<<8)
		put(p.begin, p.count, p.to, p.firstRun)
		put(f.off, uint32(p.words), p.starts, f.rest|f.buffer<<8)
	}
	c.termsAt = 1 + rankLists4*len(c.parts)
	terms := 0
	for _, i := range c.queries {
		rest := uint32(0)
		for _, t := range c.ranks.Query(i) {
			rest += t.Weight
		}
		for _, t := range c.ranks.Query(i) {
			rest -= t.Weight
			if k, ok := c.known[t.List]; ok {
				p := c.parts[k]
				sought := uint32(0)
				if p.isSought(c.store.src.List(p.list)) {
					sought = 1
				}
				put(p.starts, p.to, p.count, t.Weight)
				put(uint32(k), rest, sought, 0)
				terms++
			}
		}
	}
	c.queriesAt = c.termsAt + rankTerms4*terms
	terms = 0
	for _, i := range c.queries {
		n := 0
		for _, t := range c.ranks.Query(i) {
			if _, ok := c.known[t.List]; ok {
				n++
			}
		}
		put(uint32(terms), uint32(n), 0, 0)
		terms += n
	}
	c.words = 4 * (c.queriesAt + len(c.queries))
}

// setCapacity shares out the room for candidates: for few queries no more than one
// work-group cuts fast, if few are expected.
func (c *rankCut) setCapacity() {
	most := min(c.shape.keys/len(c.queries), int(c.store.src.Docs)+c.ranks.K+2)
	first, k := float64(c.firstPass()), float64(c.ranks.K)
	expected := max(first*c.mostPerRange(), k*float64(c.ranges)/first)
	if wide := c.store.backend.tuning.selectWide(); !c.safe && len(c.queries) <= fewQueries && 2*expected+k < float64(wide) {
		most = min(most, wide)
	}
	c.capacity = most &^ 1
}

// mostPerRange is perRange for the query that has most.
func (c *rankCut) mostPerRange() float64 {
	return max(min(c.greatest/float64(c.ranges), float64(c.span)), 1)
}

// perRange is the number of matches of a query in a range that is to be expected.
func (c *rankCut) perRange() float64 {
	n := c.matches / float64(len(c.queries)*c.ranges)
	return max(min(n, float64(c.span)), 1)
}

// rankPass is the ranges of a window from begin to end, of those whose number is a
// multiple of every, or is not; all of them where every is 1.
type rankPass struct {
	begin, end, every int
	only              bool
}

// passes cuts the ranges of the window where the candidates of each query are cut to
// the best ones, which gives the key that others must pass. The first pass takes
// ranges from everywhere, because what documents are about may depend on where they
// lie. Passes have so many ranges that no candidates are to be expected to get lost,
// twice over; a query that has lost some runs again, in passes that cannot.
func (c *rankCut) passes() (passes []rankPass) {
	k, n := c.ranks.K, c.end-c.first
	most := max((c.capacity-k)/c.span, 1) // that cannot lose any
	half := float64(c.capacity-k) / 2
	every, seen := 1, c.first
	if m := c.firstPass(); c.first == 0 && m < n {
		if c.safe {
			m = min(m, most)
		} else {
			m = max(min(m, int(half/c.mostPerRange())), 1)
		}
		if every = (n + m - 1) / m; every > 1 {
			passes = append(passes, rankPass{c.first, c.end, every, true})
			seen = (n + every - 1) / every
		}
	}
	if c.capacity > int(c.store.src.Docs)+k {
		most = c.ranges
	}
	for done := c.first; done < c.end; {
		m := most
		if !c.safe && seen > 0 {
			// With the best k of the ranges seen, k times the growth are to come.
			m = max(most, int(min(float64(seen)*half/float64(k), float64(c.ranges))))
		}
		m = min(m, max(rankGroups/len(c.queries), 1), c.end-done)
		passes = append(passes, rankPass{done, done + m, every, false})
		done += m
		seen += m
	}
	return passes
}

// firstPass is the number of ranges that leaves few candidates in both passes: d ranges
// of m matches each give d*m of them, and k*ranges/d then. It is not so small that
// they could all be untypical.
func (c *rankCut) firstPass() int {
	m := c.perRange()
	if float64(c.ranges)*m < 1<<12 { // little either way
		return c.ranges
	}
	return max(int(math.Sqrt(float64(c.ranks.K)*float64(c.ranges)/m)), c.ranges/64, 1)
}

// fewQueries is how many keep a device busy with a work-group each.
const fewQueries = 64
