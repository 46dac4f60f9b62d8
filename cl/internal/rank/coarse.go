package rank

import (
	"cmp"
	"context"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/rank/packets"
	"heddle/engine/plan"
)

// Limits of the coarse path.
const (
	coarseK       = 1000    // documents of a query at most
	coarseTerms   = 64      // COARSE_TERMS: terms of a query at most
	narrowTerms   = 8       // terms of a query for sums of 8 bits at most
	manyDocs      = 100     // documents of a query for sums of 8 bits at most
	coarseSpan    = 8       // COARSE_SPAN: ranges of a group at most
	sampleSpan    = 4       // COARSE_SPAN of the sample
	coarseCells   = 512     // CELLS: sums that the sample leaves of a range at most
	coarseFound   = 1 << 15 // documents found of a query at most, if few are asked for
	manyFound     = 1 << 17 // else
	coarseKeys    = 1 << 13 // keys of a query at most, or 8 k times the distance of samples
	coarseRound   = 256     // queries of a round that there should be room for
	manyCells     = 1 << 15 // sums of the sample of a query at most, if few documents are asked for
	aloneQueries  = 4       // queries of a round whose found documents a GPU completes at once
	completeDocs  = 16      // documents of a group of coarse_complete at a time
	completeTeams = 1 << 14 // such groups of all queries
)

// Features of the programs of coarse.cl, in the order of Operation.Features.
const (
	coarseWide   device.Features = 1 << iota // COARSE_WIDE
	coarseSample                             // COARSE_SAMPLE
	coarseFilter                             // COARSE_FILTER: queries have filters
)

// The programs of coarse_sums.
const (
	sampleSums = coarseSample
	narrowSums = device.Features(0)
	wideSums   = coarseWide
)

// coarse is a round of the coarse path: queries whose lists have packets.
type coarse struct {
	packets  *packets.Store
	pass     coarsePass
	next     int    // query, or index of lost
	lost     []int  // queries of which more documents were found than there is room for
	queries  []int  // with sums of 8 bits, then of 16 bits
	narrow   int    // number of queries with sums of 8 bits
	all      bool   // only documents in all lists count
	filtered bool   // a query has a filter
	seeking  uint64 // queries whose lists are searched for the documents of their filters
	terms    int
	postings int // postings of one query at most
	places   map[plan.Handle]coarseList
	lists    []plan.Handle
	units    [][4]uint32 // records of the queries

	every, sampled     int // one range in every; their number
	cells              int // sums that the sample leaves of a range
	found, capacity    int // documents found of a query at most; its keys
	words              int // words of the upload
	termsAt, queriesAt int // in uint4
	moved              uint64
}

// coarsePass is a choice of queries.
type coarsePass int

const (
	allQueries  coarsePass = iota
	lostQueries            // with all ranges in the sample
)

// coarseList is a list of a round: its packets and its number.
type coarseList struct {
	packets.Place
	number int
}

// rankCoarse answers the queries that fit the coarse path: a lower bound of the k-th score
// from a sample of ranges, documents whose sums of upper bounds come to it, and the exact
// scores of these. Short memory leaves queries to the exhaustive path.
func (x *slot) rankCoarse(ctx context.Context, c *cut, st *plan.Stats) (err error) {
	b, r := c.batch, x.ranker
	if b.Accumulators != plan.AutoAccumulators || b.K > coarseK || r.set.Src.Docs == 0 {
		return nil
	}
	p := r.hold(b.Norm)
	if p == nil {
		return nil
	}
	defer func() {
		if err == nil {
			r.letGo()
			return
		}
		if x.settle(ctx, r.letGo); device.IsExceeded(err) {
			err = nil
		}
	}()
	if err := x.buildPackets(ctx, c, p, st); err != nil {
		return err
	}
	k := &x.coarse
	k.packets, k.all, k.lost = p, b.Mode == plan.And, k.lost[:0]
	for _, k.pass = range []coarsePass{allQueries, lostQueries} {
		k.next = 0
		if k.pass == allQueries {
			k.next = c.query
		}
		for c.nextCoarse(k) {
			if err := x.runCoarse(ctx, c, k, st); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextCoarse makes the next round. It reports false at the end.
func (c *cut) nextCoarse(k *coarse) bool {
	k.queries, k.narrow, k.lists, k.terms, k.postings, k.filtered, k.seeking = k.queries[:0], 0, k.lists[:0], 0, 0, false, 0
	clear(k.places)
	ranges := packets.Ranges(c.set.Src.Docs)
	k.sample(c, ranges)
	most := max(c.shape.keys/max(k.found, k.capacity), 1)
	end := c.batch.Queries()
	if k.pass == lostQueries {
		end = len(k.lost)
	}
	for ; k.next < end && len(k.queries) < min(most, maxQueries, maxBest/c.batch.K, maxGroups/ranges); k.next++ {
		i := k.next
		if k.pass == lostQueries {
			i = k.lost[i]
		}
		if k.terms+len(c.batch.Query(i)) > maxTerms {
			break
		}
		k.take(c, i)
	}
	return len(k.queries) > 0
}

// take adds query i to the round if all its lists have packets, and unless it is an AND
// whose shortest list is so short that its documents are looked up in less time.
func (k *coarse) take(c *cut, i int) {
	q := c.batch.Query(i)
	if len(q) == 0 || len(q) > coarseTerms || c.set.Src.Lists[q[len(q)-1].List].Len == 0 {
		return
	}
	shortest, postings := c.lengths(i)
	f, seeks := filter.Of(c.batch.Filter(i)), k.seeks(c, i)
	if k.all && postings > rankLookup(c.set.Device.Tuning)*shortest && !seeks {
		return
	}
	lists := len(k.lists)
	for _, t := range q {
		if _, ok := k.places[t.List]; ok || c.set.Src.Lists[t.List].Len == 0 {
			continue
		}
		p, ok := k.packets.Place(t.List)
		if !ok || p.Packets == 0 {
			for _, h := range k.lists[lists:] {
				delete(k.places, h)
			}
			k.lists = k.lists[:lists]
			return
		}
		k.places[t.List] = coarseList{p, len(k.lists)}
		k.lists = append(k.lists, t.List)
	}
	k.queries = append(k.queries, i)
	k.terms += len(q)
	k.postings = max(k.postings, postings)
	if k.filtered = k.filtered || f != nil; seeks {
		k.seeking++
		k.capacity = max(k.capacity, roundUp(int(f.Count()), 2)) // without a threshold, all may have keys
	}
	if !k.isWide(c, i) {
		last := len(k.queries) - 1
		k.queries[k.narrow], k.queries[last] = k.queries[last], k.queries[k.narrow]
		k.narrow++
	}
}

// write puts the records of the round into an upload.
func (k *coarse) write(c *cut, up []uint32) {
	put := func(words ...uint32) { up = up[copy(up, words):] }
	n, ranges, bits := c.batch.Norm, uint64(packets.Ranges(c.set.Src.Docs)), c.set.Bits()
	put(n.Base, n.Slope, uint32(n.Shift), uint32(n.Impacts))
	for _, h := range k.lists {
		l, at, f := &c.set.Src.Lists[h], c.set.Places[h], c.data.places[h]
		put(at.Off, l.Len, l.Words, uint32(l.Codec)|at.Buffer<<8)
		put(0, 0, 0, 0)
		put(f.Off, l.FreqWords, 0, f.Rest|f.Buffer<<8)
	}
	k.termsAt = 1 + listUnits*len(k.lists)
	k.moved = 0
	terms := 0
	k.units = k.units[:0]
	for _, i := range k.queries {
		q := c.batch.Query(i)
		upper, lower := coarseUnits(q, k.isWide(c, i), k.all)
		first := terms
		for _, t := range q {
			p, ok := k.places[t.List]
			if !ok {
				continue
			}
			dense := uint32(0)
			if p.Dense {
				dense = 256
			}
			put(p.Off, p.Buffer|dense, upperWeight(t.Weight, upper), 257*(t.Weight/lower))
			words, at := bitset(bits, t.List)
			put(uint32(p.number), t.Weight, words<<1, at)
			k.moved += (packets.Bytes*uint64(p.Packets) + 4*ranges) * (ranges + uint64(k.sampled)) / ranges
			terms++
		}
		k.units = append(k.units, [4]uint32{uint32(first), uint32(terms - first), upper, lower})
	}
	k.queriesAt = k.termsAt + termUnits*terms
	for j, i := range k.queries {
		put(k.units[j][:]...)
		at, words := filterOf(c.batch, i)
		seeks := uint32(0)
		if k.seeks(c, i) {
			seeks = 1
		}
		put(at, words, seeks, 0)
		put(0, 0, 0, 0) // progress
	}
	k.words = 4 * (k.queriesAt + coarseUnit*len(k.queries))
}

// sums returns the program of coarse_sums for the round. One without filters is faster.
func (k *coarse) sums(with device.Features) device.Kernel[sumsArguments] {
	if k.filtered {
		with |= coarseFilter
	}
	return coarseSums.For(with)
}

// runCoarse answers a round.
func (x *slot) runCoarse(ctx context.Context, c *cut, k *coarse, st *plan.Stats) error {
	defer x.ReleaseEvents()
	queries := len(k.queries)
	cells, found, keys, results := queries*k.sampled*k.cells/2, 2*queries*k.found, 2*queries*k.capacity, resultWords(queries, c.batch.K)
	if err := x.rooms([]need{{&x.cells, cells, cells, "samples of sums"}, {&x.docs, found, found, "documents found"},
		{&x.keys, keys, keys, "candidates"}, {&x.state, results, results, "states of queries and the best documents"}}); err != nil {
		return err
	}
	if err := x.Grow(ctx, &x.Down, results); err != nil {
		return err
	}
	if err := x.Prepare(k.sums(narrowSums).KernelID, raise.KernelID, complete.KernelID); err != nil {
		return err
	}
	if !x.Device.Tuning.Serial {
		if err := x.Prepare(k.sums(sampleSums).KernelID, k.sums(wideSums).KernelID); err != nil {
			return err
		}
	}
	k.write(c, x.Up.Words)
	if err := x.Run(ctx, "ranking", func() error { return x.sendCoarse(c, k) }); err != nil {
		return err
	}
	st.BytesUp += uint64(4 * k.words)
	st.BytesDown += uint64(queries * (16 + 8*c.batch.K))
	if x.Device.CountLoads {
		st.BytesMoved += k.moved
	}
	if err := x.AddTimes(st); err != nil {
		return err
	}
	st.Sought += k.seeking
	c.queries, c.capacity, c.safe, c.second = k.queries, k.capacity, false, true
	lost := len(c.again)
	if err := x.collect(c); err != nil {
		return err
	}
	for _, i := range k.queries {
		c.done[i] = true
	}
	for _, i := range c.again[lost:] {
		c.done[i] = false
		if k.pass == allQueries {
			k.lost = append(k.lost, i)
		}
	}
	c.again = c.again[:lost]
	return nil
}

// sendCoarse enqueues a round. It runs in Runtime.Do.
func (x *slot) sendCoarse(c *cut, k *coarse) error {
	set, data := x.ranker.set, c.data
	queries, ranges := len(k.queries), packets.Ranges(set.Src.Docs)
	if err := x.Write(x.batch.Buffer, k.words); err != nil {
		return err
	}
	t, serial := x.Device.Tuning, x.serialGroups(k)
	args := sumsArguments{p: k.packets.Buffers(), batch: x.batch.Buffer, termsAt: k.termsAt, queriesAt: k.queriesAt, ranges: ranges,
		state: x.state.Buffer, cells: k.cells, k: c.batch.K, filters: set.Buffers(k.filtered)[lists.FilterArena]}
	sums := func(with device.Features, from, queries, every, most int, all bool, found device.Scratch, room int) error {
		if queries == 0 {
			return nil
		}
		local, own := 128, (ranges+every-1)/every
		if with == narrowSums {
			local = 64
		}
		span := max(min(own*queries/leastGroups(t), most), 1)
		if t.Serial {
			span = (ranges + serial - 1) / serial
		}
		args.queryFrom, args.queries, args.every, args.span, args.all, args.found, args.capacity = from, queries, every, span, all, found.Buffer, room
		return k.sums(with).Launch(&x.Flight, args, queries*((own+span-1)/span), t.Local(local), device.ScoreTime)
	}
	var err error
	if t.Serial { // one program without a sample
		err = sums(narrowSums, 0, queries, 1, ranges, k.all, x.docs, k.found)
	} else {
		err = cmp.Or(sums(sampleSums, 0, queries, k.every, sampleSpan, k.all, x.cells, k.sampled*k.cells/2),
			sums(narrowSums, 0, k.narrow, 1, coarseSpan, false, x.docs, k.found), // ANDs among them have one term
			sums(wideSums, k.narrow, queries-k.narrow, 1, coarseSpan, k.all, x.docs, k.found))
	}
	if err != nil {
		return err
	}
	if queries > aloneQueries || c.batch.K > manyDocs || t.Serial { // else exact scores take less time than a higher threshold
		err = raise.Launch(&x.Flight, raiseArguments{batch: x.batch.Buffer, termsAt: k.termsAt, queriesAt: k.queriesAt, narrow: k.narrow, all: k.all,
			found: x.docs.Buffer, capacity: k.found, k: c.batch.K, state: x.state.Buffer}, queries, t.Local(256), device.SelectTime)
		if err != nil {
			return err
		}
	}
	groups, best := max(min(completeTeams/queries, 256, k.postings/completeDocs), 1), c.batch.K
	if t.Serial {
		groups = serial
	}
	if c.batch.K > manyDocs || k.capacity > coarseKeys { // more work-items select the best in less time
		best = 0
	}
	err = complete.Launch(&x.Flight, completeArguments{a: set.Arena.Buffers, f: data.freqs.Buffers, p: args.p, ranges: ranges, batch: x.batch.Buffer,
		termsAt: k.termsAt, queriesAt: k.queriesAt, queries: queries, groups: groups, lengths: data.lengths, narrow: data.narrow, docCount: int(set.Src.Docs),
		bits: x.ranker.bitsets(), found: x.docs.Buffer, most: k.found, state: x.state.Buffer, keys: x.keys.Buffer, capacity: k.capacity, k: best, all: k.all},
		queries*groups, t.Local(64), device.ProbeTime)
	if err == nil && best == 0 {
		err = x.selector.run(queries, k.capacity, c.batch.K, x.keys.Buffer, x.state.Buffer, x.state.Buffer, bestAt(queries))
	}
	if err != nil {
		return err
	}
	return x.Read(x.state.Buffer, resultWords(queries, c.batch.K))
}
