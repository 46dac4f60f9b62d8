package cl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/plan"
)

// Store is a set of lists in device memory. It is safe for concurrent use: each
// round in flight has a slot of its own, so concurrent batches overlap.
type Store struct {
	backend  *Backend
	memory   *budget // that all of it comes out of
	src      *plan.Source
	arena    *arena
	cache    *listCache // nil where all lists are resident
	places   []place
	maxTiles int    // of a round
	tile     uint32 // elements of a tile
	// mergeTile and mergeLeast are those of the tuning row; no merges without.
	mergeTile  uint32
	mergeLeast uint64
	auto       plan.Algorithm
	with       feature    // of all lists
	free       chan *slot // all slots are here when nothing runs
	most       int        // slots
	slots      int        // that were made
	scratch    uint64     // bytes of all slots

	freeFormulas pool[formulaSlot]
	formulaBytes atomic.Uint64 // of all of them, with what is kept
	formulasKept atomic.Uint64 // bytes for the first of them, until it is made
	growing      chan struct{} // holds a token; who takes it may have more than its shape

	freeRanks pool[rankSlot]
	rankBytes atomic.Uint64
	rankLists atomic.Pointer[rankLists] // nil until the first ranking

	building chan struct{} // holds a token; who takes it may build tables
	mu       sync.Mutex    // guards tables
	tables   map[plan.Algorithm]*tables

	// matchRate is the share of candidates that recent rounds found, in 1/65536:
	// the first download takes that much and a quarter more.
	matchRate atomic.Uint64
	closed    atomic.Bool
	closing   chan struct{} // closed by Close
}

var _ plan.Store = (*Store)(nil)

// leastTiles is the length of rounds, in tiles, below which a limit on memory does
// not shorten them.
const leastTiles = 1024

// Load copies the lists of src to the device and builds the tables that Auto
// uses. src must stay valid until the store is closed.
func (b *Backend) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	if err := src.Validate(); err != nil {
		return nil, err
	}
	if err := b.testLists(ctx, src); err != nil {
		return nil, err
	}
	s, err := b.load(ctx, src)
	if err != nil {
		return nil, err
	}
	if err := s.buildKernels(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (b *Backend) load(ctx context.Context, src *plan.Source) (*Store, error) {
	return b.loadIn(ctx, src, b.tuning.RoundTiles, b.tuning.Slots)
}

// loadIn is load with rounds of so many tiles at most, and so many slots.
func (b *Backend) loadIn(ctx context.Context, src *plan.Source, tiles, slots int) (*Store, error) {
	ranges, places, err := layout(src, b.dev.info.MaxAlloc)
	if err != nil {
		return nil, b.outOfMemory("laying out lists", err)
	}
	s := b.newStore(src, &b.budget, tiles, slots)
	s.places = places
	// All that is surely needed must fit before anything is allocated.
	need := arenaBytes(ranges) + s.slotsBytes() + formulasLeast()
	if err := b.reserve(need, "lists and scratch"); err != nil {
		return nil, err
	}
	b.unreserve(need)
	if s.arena, err = b.loadArena(src, ranges); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// newStore is a store without memory, for rounds of so many tiles at most, and so many
// slots.
func (b *Backend) newStore(src *plan.Source, memory *budget, tiles, slots int) *Store {
	s := &Store{backend: b, memory: memory, src: src, most: slots, tile: uint32(b.tuning.Tile),
		mergeTile: uint32(b.tuning.mergeTile()), mergeLeast: b.tuning.MergeLeast, tables: map[plan.Algorithm]*tables{},
		building: make(chan struct{}, 1), growing: make(chan struct{}, 1), closing: make(chan struct{})}
	s.building <- struct{}{}
	s.growing <- struct{}{}
	for _, l := range src.Lists {
		s.with |= lookup(l.Codec)
	}
	// Scratch takes a sixteenth of the device's memory at most, or one tile a slot,
	// and a quarter of the limit while rounds stay long enough.
	s.maxTiles = tiles
	for s.maxTiles > 1 {
		scratch := s.slotsBytes()
		if scratch <= b.dev.info.Memory/16 && (scratch <= memory.limit/4 || s.maxTiles <= leastTiles) {
			break
		}
		s.maxTiles /= 2
	}
	return s
}

// open makes what a store has beside its lists. After a failure release must follow.
func (s *Store) open(ctx context.Context) error {
	b := s.backend
	s.free = make(chan *slot, s.most)
	for range s.most {
		x, err := s.newSlot()
		if err != nil {
			return err
		}
		s.slots++
		s.scratch += x.bytes
		s.free <- x
	}
	// Tables and ranking take no memory without which formulas could not be answered.
	if err := s.memory.reserve(formulasLeast(), "scratch of formulas"); err != nil {
		return err
	}
	s.formulaBytes.Store(formulasLeast())
	s.formulasKept.Store(leastFormulas.bytes())
	_, slots := formulaShapeFor(b.tuning, b.formulasMost(s.memory.limit))
	s.freeFormulas = newPool[formulaSlot](slots)
	s.freeRanks = newPool[rankSlot](b.tuning.rankSlots())
	s.matchRate.Store(1 << 14)
	return s.chooseAuto(ctx)
}

// tablesOf returns the tables of a, building them on first use.
func (s *Store) tablesOf(ctx context.Context, a plan.Algorithm) (*tables, error) {
	get := func() *tables {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.tables[a]
	}
	put := func(t *tables) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tables[a] = t
	}
	return once(ctx, s.building, s.closing, get, put, func() (*tables, error) { return s.loadTables(ctx, a) })
}

// once returns what get finds, which put has put there; where that is nothing, one
// caller builds it, who holds the token of `building`, and others wait.
func once[T any](ctx context.Context, building chan struct{}, closing <-chan struct{}, get func() *T, put func(*T), build func() (*T, error)) (*T, error) {
	if t := get(); t != nil {
		return t, nil
	}
	select {
	case <-building:
		defer func() { building <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-closing:
		return nil, plan.ErrClosed
	}
	if t := get(); t != nil { // somebody else made it meanwhile
		return t, nil
	}
	t, err := build()
	if err != nil {
		return nil, err
	}
	put(t)
	return t, nil
}

// buildKernels builds what rounds of the store's lists will ask for, so that the
// first batch does not wait for a compiler.
func (s *Store) buildKernels() error {
	for _, l := range s.src.Lists {
		if d := decoderOf(l.Codec); d != noDecoder {
			if _, err := s.backend.programOf(decoders[d]); err != nil {
				return err
			}
		}
	}
	_, err := s.backend.programOf(kernelID{"intersect", s.features(s.with)})
	return err
}

// features are those of the kernel that runs a round which asks for some: none, or
// all that the store's lists ask for beside those of the algorithm, so that a
// store needs few programs. Kernels for gap codecs take seconds to build on some
// devices, so there is one for each codec, and one for any mixture.
func (s *Store) features(some feature) feature {
	if some == 0 {
		return 0
	}
	if some&useGaps == 0 {
		some |= s.with &^ useGaps // gap codecs have a kernel of their own
	} else if some = (some | s.with) &^ usePMF; bits.OnesCount32(uint32(some&useGaps)) > 1 {
		some |= useGaps | useLines | useIS | useLRSeg
	}
	if some.shell() != "intersect.cl" {
		some &^= usePart // the others know PARA alone
	}
	return some
}

// Match implements plan.Store.
func (s *Store) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if err := plan.Unfiltered(b.Filters); err != nil {
		return err
	}
	switch b.Kind() {
	case plan.Conjunctions:
		return s.conjunctions(ctx, b, out)
	case plan.Expressions:
		return s.expressions(ctx, b, out)
	}
	return plan.MatchMixed(ctx, b, out, s.conjunctions, s.expressions)
}

// conjunctions answers b in rounds of at most RoundTiles tiles, two in flight.
func (s *Store) conjunctions(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if s.closed.Load() {
		return plan.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.backend.Info().Runs(b.Algorithm); err != nil {
		return err
	}
	if err := s.backend.testAlgorithm(ctx, b.Algorithm); err != nil {
		return err
	}
	return s.intersect(ctx, b, out)
}

// intersect is conjunctions without a self-test.
func (s *Store) intersect(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	began := time.Now()
	t, err := s.begin(ctx, b, out)
	if err != nil {
		return err
	}
	if err := s.conjoin(ctx, b, 0, out, t, nil); err != nil {
		return err
	}
	out.Stats.Queries = uint64(b.Queries())
	out.Stats.Wall = time.Since(began)
	return nil
}

// begin checks b, prepares out and gives the tables.
func (s *Store) begin(ctx context.Context, b *plan.MatchBatch, out *plan.Results) (*tables, error) {
	out.Reset()
	if err := b.Validate(s.src); err != nil {
		return nil, err
	}
	for i := range b.Queries() {
		if n := b.Offsets[i+1] - b.Offsets[i]; n > maxTerms {
			return nil, fmt.Errorf("cl: query %d has %d terms, at most %d are possible", i, n, maxTerms)
		}
	}
	out.Offsets = slices.Grow(out.Offsets, b.Queries())[:b.Queries()+1]
	return s.tablesOf(ctx, s.resolve(b.Algorithm))
}

// conjoin answers the queries of b from the first one on, whose lists p has pinned where
// not all are resident.
func (s *Store) conjoin(ctx context.Context, b *plan.MatchBatch, first int, out *plan.Results, t *tables, p *pins) error {
	if b.Algorithm == plan.Auto && s.mergesAll(b, first, t.records) {
		if err := s.backend.testAlgorithm(ctx, plan.MergePath); err != nil {
			return err
		}
	} else if b.Algorithm == plan.Auto {
		probing := *b
		probing.Algorithm = s.auto
		b = &probing
	}
	at := position{query: first}
	var flying [2]*slot
	n := 0
	var err error
	for at.query < b.Queries() || n > 0 {
		if at.query < b.Queries() && n < len(flying) {
			// With one round in flight already, never wait for a second slot: two
			// callers that did would wait for each other.
			x, err := s.take(ctx, n > 0)
			if err != nil {
				s.abandon(flying[:n], p)
				return err
			}
			if x != nil {
				x.after = p.events()
				if at, err = s.send(x, b, t, at); err != nil {
					s.free <- x
					s.abandon(flying[:n], p)
					return err
				}
				flying[n] = x
				n++
				continue
			}
		}
		x := flying[0]
		select {
		case err = <-x.done:
		case <-ctx.Done():
			s.abandon(flying[:n], p)
			return ctx.Err()
		}
		flying[0], flying[1] = flying[1], nil
		n--
		if err == nil {
			err = s.collect(x, out)
		}
		x.releaseEvents()
		s.free <- x
		if err != nil {
			s.abandon(flying[:n], p)
			return err
		}
	}
	return nil
}

// take gets a free slot; with try it gives nil rather than wait.
func (s *Store) take(ctx context.Context, try bool) (*slot, error) {
	select {
	case x := <-s.free:
		return x, nil
	default:
		if try {
			return nil, nil
		}
	}
	select {
	case x := <-s.free:
		return x, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.closing:
		return nil, plan.ErrClosed
	}
}

// send cuts the next round and sends it to the device.
func (s *Store) send(x *slot, b *plan.MatchBatch, t *tables, at position) (position, error) {
	var next position
	x.round, next = s.cut(b, t.records, at, x.up.words, x.firstTile)
	x.tables, x.countOnly = t, b.CountOnly
	if with := s.features(x.round.with | usePart); b.Part && with&usePart != 0 && !x.round.merge {
		x.round.with = with
		x.round.cutParts(x.up.words, x.firstTile)
	} else {
		x.round.with = s.features(x.round.with)
	}
	counts := cmp.Or(x.round.parts, x.round.tiles)
	x.docsAt = (counts + 3) / 4 * 4
	x.read = counts
	if x.round.parts > 0 && !x.countOnly {
		x.read = x.docsAt + x.round.tiles*int(x.round.tile)
		if err := x.growDown(x.read, 0); err != nil {
			return at, err
		}
	} else if !x.countOnly {
		guess := x.round.candidates * s.matchRate.Load() / (1 << 16)
		x.read = min(x.docsAt+int(guess+guess/4)+1024, x.docsAt+int(x.round.candidates), len(x.down.words))
	}
	// Kernels are built here, not in Backend.do, which others wait for.
	if err := x.prepare(); err != nil {
		return at, err
	}
	if err := s.backend.do(x.submit); err != nil {
		return at, err
	}
	go x.finish()
	return next, nil
}

// collect appends the results of a finished round to out.
func (s *Store) collect(x *slot, out *plan.Results) error {
	r := &x.round
	// The first query may go on from the round before; its end moves then.
	end := out.Stats.Matches
	if r.parts > 0 {
		x.collectParts(out, end)
		return x.addStats(&out.Stats)
	}
	for i := range r.queries {
		for _, n := range x.down.words[x.firstTile[i]:x.firstTile[i+1]] {
			end += uint64(n)
		}
		out.Offsets[r.firstQuery+i+1] = end
	}
	out.Stats.Matches = end
	if !x.countOnly {
		out.Docs = appendWords(out.Docs, x.down.words[x.docsAt:x.docsAt+x.matches])
		if r.candidates > 0 {
			rate := uint64(x.matches) << 16 / r.candidates
			s.matchRate.Store((3*s.matchRate.Load() + rate) / 4)
		}
	}
	return x.addStats(&out.Stats)
}

// copyPiece is how many words one goroutine copies: 1 MiB takes longer than to
// start one.
const copyPiece = 1 << 18

// appendWords is append, on several cores where there is much to copy: docIDs come
// from memory that no cache holds, and one core cannot fetch as fast as a device
// sends.
func appendWords(to, words []uint32) []uint32 {
	at := len(to)
	to = slices.Grow(to, len(words))[:at+len(words)]
	var wg sync.WaitGroup
	for ; len(words) > copyPiece; words = words[copyPiece:] {
		dst, src := to[at:], words[:copyPiece]
		wg.Go(func() { copy(dst, src) })
		at += copyPiece
	}
	copy(to[at:], words)
	wg.Wait()
	return to
}

// abandon lets rounds that nobody waits for run to their end; until then their lists
// stay pinned.
func (s *Store) abandon(flying []*slot, p *pins) {
	for _, x := range flying {
		p.hold()
		go func() {
			<-x.done
			x.releaseEvents()
			s.free <- x
			p.release()
		}()
	}
}

// Memory is what lists, tables and scratch take on the device.
func (s *Store) Memory() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.arena.bytes + s.scratch + s.formulaBytes.Load() + s.rankBytes.Load()
	if l := s.rankLists.Load(); l != nil {
		n += l.inMemory()
	}
	for _, t := range s.tables {
		n += t.bytes
	}
	return n
}

// Close waits for what is in flight and frees the device memory; callers that
// wait for a place get plan.ErrClosed.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return plan.ErrClosed
	}
	close(s.closing)
	<-s.building // whoever builds tables has ended
	if s.cache != nil {
		s.cache.land()
	}
	s.release()
	return nil
}

func (s *Store) release() {
	for range s.slots {
		(<-s.free).release()
	}
	s.freeFormulas.drain((*formulaSlot).release)
	if s.formulaBytes.Load() > 0 {
		s.memory.unreserve(s.formulasKept.Swap(0) + formulaGrowth)
	}
	s.freeRanks.drain((*rankSlot).release)
	if l := s.rankLists.Load(); l != nil {
		l.release()
	}
	for _, t := range s.tables {
		t.release(s.backend)
	}
	if s.arena != nil {
		s.arena.release()
	}
}
