package match

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

// Matcher answers conjunctions over a set of lists. It is safe for concurrent use: each
// round under way has a slot of its own, so concurrent batches overlap.
type Matcher struct {
	set        *lists.Set
	maxTiles   int    // tiles of a round at most
	tile       uint32 // elements of a tile
	mergeTile  uint32 // the same for merges
	mergeLeast uint64 // merge_least of the tuning row; 0: plan.Auto never merges

	slots   device.Pool[slot]
	most    int    // slots
	scratch uint64 // device memory that all slots have in the budget, in bytes

	turns chan struct{}       // tokens of large rounds that wait for the device
	spare chan *device.Pinned // memory for results that slots take in place of lent memory; nil: not made yet

	// matchRate is the fraction of candidates that recent rounds found, in 1/65536. The first
	// download takes as many docIDs and a quarter more, but at most mostSpare more.
	matchRate atomic.Uint64
}

// mostSpare limits the words that a first download takes in vain: the bus limits large batches, and
// a second download for the rest costs them little.
const mostSpare = 1 << 15

// Drivers wait for a command by asking the device again and again, which takes a core and delays
// other calls. So mostWaiting rounds of at least largeRound candidates wait at a time, the earliest
// first. Smaller rounds do not wait behind them.
const (
	mostWaiting = 2
	largeRound  = 1 << 20
)

// scratchShare: see New.
const scratchShare = 16

// leastTiles is the length of rounds, in tiles, below which a limit on memory does not
// shorten them.
const leastTiles = 1024

// New makes a matcher without device memory, for rounds of at most the given number
// of tiles and for the given number of slots. Scratch memory takes at most 1/scratchShare of
// the device memory, or one tile per slot, and a quarter of the limit while rounds stay
// long enough.
func New(set *lists.Set, tiles, slots int) *Matcher {
	t := set.Device.Tuning
	m := &Matcher{set: set, most: slots, tile: uint32(t.Tile), mergeTile: uint32(mergeTile(t)), mergeLeast: t.MergeLeast,
		maxTiles: fitTiles(tiles, t.Tile, slots, set.Device.Info.Memory/scratchShare, 1)}
	m.maxTiles = fitTiles(m.maxTiles, t.Tile, slots, set.Memory.Size()/4, leastTiles)
	set.Count(func() uint64 { return m.scratch })
	return m
}

// Open takes the memory of all slots from the budget and makes the first slot; concurrent batches make
// the others, since pinned memory takes a driver milliseconds. After a failure release must follow.
func (m *Matcher) Open(ctx context.Context) error {
	m.slots, m.spare, m.turns = device.NewPool[slot](m.most), make(chan *device.Pinned, m.most), make(chan struct{}, mostWaiting)
	for range m.most {
		m.spare <- nil
	}
	m.matchRate.Store(1 << 14)
	if err := m.set.Memory.Reserve(m.ScratchBytes(), "scratch of batches"); err != nil {
		return err
	}
	m.scratch = m.ScratchBytes()
	x, err := m.slots.Take(ctx, nil, m.newSlot)
	if err == nil {
		m.slots.Give(x)
	}
	return err
}

// Idle tells that no round is under way.
func (m *Matcher) Idle() bool { return m.slots.Idle() }

// Release waits for all rounds and loans, and frees the slots.
func (m *Matcher) Release() {
	m.slots.Drain((*slot).release)
	m.set.Memory.Unreserve(m.scratch)
	for range cap(m.spare) {
		if p := <-m.spare; p != nil {
			p.Release(m.set.Device)
		}
	}
}

// BuildKernels builds the programs of the set's lists, so that the first batch does not
// wait for a compiler.
func (m *Matcher) BuildKernels() error {
	rt := m.set.Device
	for _, l := range m.set.Src.Lists {
		if d := lists.DecoderOf(l.Codec); d != lists.NoDecoder {
			if _, err := rt.ProgramOf(lists.Decoders[d].KernelID); err != nil {
				return err
			}
		}
	}
	_, err := rt.ProgramOf(intersect.For(m.features(m.set.With)).KernelID)
	return err
}

// features returns the features of the kernel for a round that needs some: none, or all
// that the lists of the set need as well, so that a set needs few programs. Kernels of gap
// codecs take seconds to build on some devices. There is one for each codec and one for
// any mixture.
func (m *Matcher) features(some device.Features) device.Features {
	if some == 0 {
		return 0
	}
	if some&lists.UseGaps == 0 {
		some |= m.set.With &^ lists.UseGaps // gap codecs have a kernel of their own
	} else if some = (some | m.set.With) &^ lists.UsePMF; bits.OnesCount32(uint32(some&lists.UseGaps)) > 1 {
		some |= lists.UseGaps | lists.UseLines | lists.UseIS | lists.UseLRSeg | lists.UseLRSplit
	}
	if shellFile(some) != "intersect.cl" {
		some &^= lists.UsePart // the other kernels have PARA only
	}
	return some
}

// Match answers the conjunctions of b in rounds, two under way per caller.
func (m *Matcher) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if err := m.set.Begin(ctx); err != nil {
		return err
	}
	if err := m.set.Device.Info.Runs(b.Algorithm); err != nil {
		return err
	}
	if err := filter.Check(b.Filters, m.set.Device, m.set.Src.Docs); err != nil {
		return err
	}
	tested := b.Algorithm
	if m.set.Cache != nil && tested != plan.MergePath {
		tested = m.resolve(tested)
	}
	if err := selfTestAlgorithm(ctx, m.set.Device, tested); err != nil {
		return err
	}
	return m.run(ctx, b, out)
}

// run is match without a self-test.
func (m *Matcher) run(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	began := time.Now()
	t, err := m.prepare(ctx, b, out)
	if err != nil {
		return err
	}
	if m.set.Cache == nil {
		err = m.part(ctx, b, 0, out, t, nil)
	} else {
		postings := func(dst []plan.Handle, i int) []plan.Handle { return append(dst, b.Query(i)...) }
		r := lists.Request{Noun: "query", Queries: b.Queries(), Lists: postings, Aux: t}
		err = m.set.Cache.Each(ctx, r, &out.Stats, func(ctx context.Context, first, end int, p *lists.Pins) error {
			queries := *b
			queries.Offsets = b.Offsets[:end+1]
			return m.part(ctx, &queries, first, out, t, p)
		})
	}
	if err != nil {
		return err
	}
	out.Stats.Queries = uint64(b.Queries())
	m.countFilters(b, t.Records, &out.Stats)
	out.Stats.Wall = time.Since(began)
	return nil
}

// countFilters counts the queries with filters, and those whose elements are a filter's.
func (m *Matcher) countFilters(b *plan.MatchBatch, records []lists.Record, st *plan.Stats) {
	for i := range b.Filters {
		if b.Filters[i] == nil {
			continue
		}
		st.Filtered++
		if elements, _, _ := drivingList(b, records, i); elements == filter.Of(b.Filters[i]).Docs() {
			st.Sought++
		}
	}
	if st.Sought > 0 { // as without the filters
		st.Candidates = b.Candidates(m.set.Src)
	}
}

// prepare checks b, clears out and returns the tables.
func (m *Matcher) prepare(ctx context.Context, b *plan.MatchBatch, out *plan.Results) (*lists.Tables, error) {
	out.Reset()
	if err := b.Validate(m.set.Src); err != nil {
		return nil, err
	}
	for i := range b.Queries() {
		if n := b.Offsets[i+1] - b.Offsets[i]; n > maxTerms {
			return nil, fmt.Errorf("cl: query %d has %d terms, at most %d are possible", i, n, maxTerms)
		}
	}
	out.Offsets = slices.Grow(out.Offsets, b.Queries())[:b.Queries()+1]
	return m.set.TablesOf(ctx, m.resolve(b.Algorithm))
}

// part answers the queries of b from the first one on. p pins their lists if not all
// lists are resident.
func (m *Matcher) part(ctx context.Context, b *plan.MatchBatch, first int, out *plan.Results, t *lists.Tables, p *lists.Pins) error {
	if b.Algorithm == plan.Auto && m.mergesAll(b, first, t.Records) {
		if err := selfTestAlgorithm(ctx, m.set.Device, plan.MergePath); err != nil {
			return err
		}
		merging := *b
		merging.Algorithm = plan.MergePath
		b = &merging
	}
	at := position{query: first}
	var flying [2]*slot
	n := 0
	var err error
	for at.query < b.Queries() || n > 0 {
		if at.query < b.Queries() && n < len(flying) {
			// A caller with a round under way never waits for a second slot, since two
			// such callers would wait for each other.
			x, err := m.take(ctx, n > 0)
			if err != nil {
				m.abandon(flying[:n], p)
				return err
			}
			if x != nil {
				x.After = p.Events()
				if at, err = m.send(ctx, x, b, t, at); err != nil {
					m.abandon(flying[:n], p)
					return p.Finish(err, x.giveBack)
				}
				flying[n] = x
				n++
				continue
			}
		}
		x := flying[0]
		select {
		case err = <-x.Done:
		case <-ctx.Done():
			m.abandon(flying[:n], p)
			return ctx.Err()
		}
		flying[0], flying[1] = flying[1], nil
		n--
		if err == nil {
			err = m.collect(ctx, x, out)
		}
		x.ReleaseEvents()
		m.slots.Give(x)
		if err != nil {
			m.abandon(flying[:n], p)
			return err
		}
	}
	return nil
}

// take returns a free slot. With try it returns nil instead of waiting.
func (m *Matcher) take(ctx context.Context, try bool) (*slot, error) {
	if try {
		return m.slots.Try(m.newSlot), nil
	}
	return m.slots.Take(ctx, m.set.Closing, m.newSlot)
}

// send cuts the next round and enqueues its commands. It returns the start of the round
// after it.
func (m *Matcher) send(ctx context.Context, x *slot, b *plan.MatchBatch, t *lists.Tables, at position) (position, error) {
	var next position
	x.round, next = m.cut(b, t.Records, at, x.Up.Words, x.firstTile)
	x.tables, x.countOnly = t, b.CountOnly
	if with := m.features(x.round.with | lists.UsePart); b.Part && with&lists.UsePart != 0 && !x.round.merge {
		x.round.with = with
		x.round.cutParts(x.Up.Words, x.firstTile)
	} else {
		x.round.with = m.features(x.round.with)
	}
	if err := m.expect(ctx, x); err != nil {
		return at, err
	}
	// The kernels are built here and not in Runtime.Do, where other callers would wait.
	if err := x.prepare(); err != nil {
		return at, err
	}
	if err := x.Enqueue(ctx, x.submit); err != nil {
		return at, err
	}
	go x.finish()
	return next, nil
}

// expect lays out the results of a round, and chooses the size of the first download by the
// results of recent rounds.
func (m *Matcher) expect(ctx context.Context, x *slot) error {
	r, counts := &x.round, cmp.Or(x.round.parts, x.round.tiles)
	x.docsAt, x.fetched = (counts+3)/4*4, counts
	if x.countOnly {
		return nil
	}
	if r.parts > 0 {
		x.fetched = x.docsAt + r.tiles*int(r.tile)
		return x.Grow(ctx, &x.Down, x.fetched)
	}
	guess := r.candidates * m.matchRate.Load() / (1 << 16)
	x.fetched = min(x.docsAt+int(guess+min(guess/4, mostSpare))+1024, x.docsAt+int(r.candidates), len(x.Down.Words))
	return nil
}

// collect appends the results of a finished round to out.
func (m *Matcher) collect(ctx context.Context, x *slot, out *plan.Results) error {
	r := &x.round
	// The first query may continue from the round before. Its end moves then.
	end := out.Stats.Matches
	if r.parts > 0 {
		x.collectParts(out, end)
		return x.addStats(ctx, &out.Stats)
	}
	for i := range r.queries {
		for _, n := range x.Down.Words[x.firstTile[i]:x.firstTile[i+1]] {
			end += uint64(n)
		}
		out.Offsets[r.firstQuery+i+1] = end
	}
	out.Stats.Matches = end
	if !x.countOnly {
		learn(&m.matchRate, x.matches, r.candidates)
		docs := x.Down.Words[x.docsAt : x.docsAt+x.matches]
		if !out.Borrow || !r.whole || r.queries < len(out.Offsets)-1 || !m.lend(ctx, x, docs, out) {
			out.Docs = device.AppendWords(out.Docs, docs)
		}
	}
	return x.addStats(ctx, &out.Stats)
}

// learn moves a rate in 1/65536 a quarter of the way to the rate of a round.
func learn(rate *atomic.Uint64, n int, candidates uint64) {
	if candidates > 0 {
		rate.Store((3*rate.Load() + uint64(n)<<16/candidates) / 4)
	}
}

// abandon lets rounds run to their end without a caller. Their lists stay pinned until
// then.
func (m *Matcher) abandon(flying []*slot, p *lists.Pins) {
	for _, x := range flying {
		p.Hold()
		go func() {
			<-x.Done
			x.ReleaseEvents()
			m.slots.Give(x)
			p.Release()
		}()
	}
}
