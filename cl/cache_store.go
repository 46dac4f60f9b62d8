package cl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// CachedStore is a Store of which some lists are resident, by the policy of package
// listcache. It is safe for concurrent use. A batch is cut into parts whose lists take a
// quarter of the cache at most, or are those of one query: while one part is answered,
// the lists of the next one are on their way.
//
// Lists that come and go have no tables: algorithms that need some run as BS, which looks
// bitsets up with one load all the same. Tables would take a sixteenth of raw lists more,
// or a fifth of compressed ones, to search half as long, where queries wait for the bus:
// while that brings in a list of 100 KB an H200 answers a dozen queries by BS.
//
// Of ranking the lengths of documents are resident, and frequencies come and go like
// lists; each counts as a list of the query.
type CachedStore struct {
	store *Store
	cache *listCache
}

var (
	_ plan.CachingBackend = (*Backend)(nil)
	_ plan.CachedStore    = (*CachedStore)(nil)
)

// partShare is how many parts that are no longer than they should be fit a cache.
const partShare = 4

// cacheLeast is enough for all scratch of a cache of few lists, in bytes.
const cacheLeast = 512 << 20

// LoadCached makes a store that takes `bytes` of device memory, or what is free where that
// is less or bytes is 0, but for what self-tests take. Scratch takes a quarter of it at
// most while rounds stay long enough, ranking a quarter where src has frequencies, and
// lists the rest, at least an eighth.
func (b *Backend) LoadCached(ctx context.Context, src *plan.Source, bytes uint64) (plan.CachedStore, error) {
	if err := src.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := b.testLists(ctx, src); err != nil {
		return nil, err
	}
	// Algorithms that are asked for later are tested beside the store.
	left := b.left()
	left -= min(selfTestMemory, left/8)
	if bytes == 0 || bytes > left {
		bytes = left
	}
	most := cachedBytes(src)
	bytes = min(bytes, 4*most+cacheLeast) // more is of no use to so few lists
	scratch := b.newStore(src, &budget{limit: bytes}, b.tuning.RoundTiles).slotsBytes() + b.cacheScratch(src, bytes)
	lists := min(bytes-min(scratch, bytes), most)
	if lists < min(bytes/8, most) {
		return nil, b.outOfMemory("making a cache of lists", fmt.Errorf("scratch takes %d of %d bytes, %d are left for %d bytes of lists", scratch, bytes, lists, most))
	}
	s, err := b.loadCached(ctx, src, scratch, b.cacheBuffers(lists))
	if err != nil {
		return nil, err
	}
	if err := s.store.buildKernels(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// cacheScratch is what formulas and ranked queries are left beside lists, if the store
// takes so many bytes.
func (b *Backend) cacheScratch(src *plan.Source, bytes uint64) uint64 {
	t, memory := b.tuning, min(b.dev.info.Memory, bytes)
	n := uint64(t.formulaSlots()) * formulaShapeFor(t, memory).bytes()
	if src.Freqs != nil {
		shape := rankShapeFor(t, memory, b.dev.info.MaxAlloc)
		n += uint64(t.rankSlots()) * (memory/8 + 4*rankUpload + selectorBytes(t, shape.keys))
		lengths, _ := packLengths(src.Lengths)
		n += lengthBytes(lengths)
	}
	return n
}

// cachedBytes is what all lists take in a cache.
func cachedBytes(src *plan.Source) (n uint64) {
	for _, words := range itemWords(src) {
		n += 4 * ((uint64(words) + plan.ListAlign - 1) / plan.ListAlign * plan.ListAlign)
	}
	return n
}

// itemWords are the sizes of the items of a listCache.
func itemWords(src *plan.Source) []uint32 {
	var words, freqs []uint32
	for _, l := range src.Lists {
		words, freqs = append(words, l.Words), append(freqs, l.FreqWords)
	}
	if src.Freqs == nil {
		return words
	}
	return append(words, freqs...)
}

// cacheBuffers cuts so many bytes into buffers of equal size, as few as can be. Each has
// room for loads of whole uint4 at its end.
func (b *Backend) cacheBuffers(lists uint64) (sizes []uint64) {
	const end = 4 * plan.ListAlign
	most := min(b.dev.info.MaxAlloc, 4*plan.ListAlign*(1<<32-1)) / end * end
	n := min((lists+most-end-1)/(most-end), maxArenas)
	for range max(n, 1) {
		sizes = append(sizes, min((lists/max(n, 1)+end-1)/end*end+end, most))
	}
	return sizes
}

// loadCached makes a store of so many bytes of scratch and buffers of so many for lists.
func (b *Backend) loadCached(ctx context.Context, src *plan.Source, scratch uint64, buffers []uint64) (*CachedStore, error) {
	total := scratch
	var room []uint64 // words
	for _, n := range buffers {
		total += n
		room = append(room, n/4-plan.ListAlign)
	}
	if err := b.reserve(total, "lists and scratch"); err != nil {
		return nil, err
	}
	s := b.newStore(src, &budget{device: b.device, limit: total}, b.tuning.RoundTiles)
	n := len(src.Lists)
	s.places = make([]place, n)
	items := itemWords(src)
	c := &listCache{store: s, items: listcache.New(items, n, room), lists: uint32(n), coming: map[uint32]*upload{},
		freqs: make([]place, len(items)-n), turn: make(chan struct{}, 1), freed: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	c.cutters.New = func() any { return &partCutter{cache: c, seen: make([]uint32, len(items))} }
	s.cache = c
	err := c.open(min(stageBytes, total))
	if err == nil {
		if s.arena, err = b.newArena(s.memory, buffers); err == nil {
			err = s.open(ctx)
		}
	}
	if err != nil {
		c.release()
		s.release()
		b.unreserve(total)
		return nil, err
	}
	return &CachedStore{s, c}, nil
}

// Intersect is that of Store, part by part.
func (s *CachedStore) Intersect(ctx context.Context, b *plan.Batch, out *plan.Results) error {
	began := time.Now()
	if s.store.closed.Load() {
		return plan.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.store.backend.Info().Runs(b.Algorithm); err != nil {
		return err
	}
	asked := b.Algorithm
	if asked != plan.MergePath {
		asked = s.store.resolve(asked)
	}
	if err := s.store.backend.testAlgorithm(ctx, asked); err != nil {
		return err
	}
	t, err := s.store.begin(ctx, b, out)
	if err != nil {
		return err
	}
	lists := func(i int, room []plan.Handle) []plan.Handle { return append(room, b.Query(i)...) }
	err = s.each(ctx, "query", b.Queries(), false, lists, t, &out.Stats, func(ctx context.Context, first, end int, p *pins) error {
		queries := *b
		queries.Offsets = b.Offsets[:end+1]
		return s.store.conjoin(ctx, &queries, first, out, t, p)
	})
	if err != nil {
		return err
	}
	out.Stats.Queries = uint64(b.Queries())
	out.Stats.Wall = time.Since(began)
	return nil
}

// Evaluate is that of Store, part by part.
func (s *CachedStore) Evaluate(ctx context.Context, f *plan.Formulas, out *plan.Results) error {
	began := time.Now()
	t, err := s.store.beginFormulas(ctx, f, out, s.store.auto)
	if err != nil {
		return err
	}
	lists := func(i int, room []plan.Handle) []plan.Handle {
		for _, op := range f.Formula(i) {
			if op.Code == plan.OpList {
				room = append(room, op.List)
			}
		}
		return room
	}
	err = s.each(ctx, "formula", f.Len(), false, lists, t, &out.Stats, func(ctx context.Context, first, end int, p *pins) error {
		formulas := *f
		formulas.Offsets = f.Offsets[:end+1]
		return s.store.evaluatePart(ctx, &formulas, first, out, t, p)
	})
	if err != nil {
		return err
	}
	endFormulas(s.store.src, f, out)
	out.Stats.Wall = time.Since(began)
	return nil
}

// Rank is that of Store, part by part.
func (s *CachedStore) Rank(ctx context.Context, r *plan.Ranks, out *plan.TopK) error {
	began := time.Now()
	if s.store.closed.Load() {
		return plan.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.Validate(s.store.src); err != nil {
		return err
	}
	if err := s.store.backend.testRanks(ctx, r.Accumulators); err != nil {
		return err
	}
	out.Reset()
	lists := func(i int, room []plan.Handle) []plan.Handle {
		for _, t := range r.Query(i) {
			room = append(room, t.List)
		}
		return room
	}
	err := s.each(ctx, "ranked query", r.Queries(), true, lists, nil, &out.Stats, func(ctx context.Context, first, end int, p *pins) error {
		ranks := *r
		ranks.Offsets = r.Offsets[:end+1]
		return s.store.rankPart(ctx, &ranks, first, out, p)
	})
	if err != nil {
		return err
	}
	endRanks(s.store.src, r, out)
	out.Stats.Wall = time.Since(began)
	return nil
}

// Explain names the method for list h.
func (s *CachedStore) Explain(a plan.Algorithm, h plan.Handle) string {
	return s.explain(a, func() string { return s.store.Explain(a, h) })
}

// ExplainBatch names the algorithm of b, and why where it is not what was asked for.
func (s *CachedStore) ExplainBatch(b *plan.Batch) string {
	return s.explain(b.Algorithm, func() string { return s.store.ExplainBatch(b) })
}

// explain calls f while no term records change.
func (s *CachedStore) explain(a plan.Algorithm, f func() string) string {
	if _, err := s.store.tablesNow(a); err != nil { // f does not build any
		return err.Error()
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	return f()
}

// Missing is how many bytes a query over lists would bring in now. It waits for nobody.
func (s *CachedStore) Missing(lists []plan.Handle, ranked bool) (bytes uint64, ok bool) {
	c := s.cache
	all := uint64(0)
	add := func(item uint32) {
		n := c.items.Bytes(item)
		if all += n; !c.items.Resident(item) {
			bytes += n
		}
	}
	for _, h := range lists {
		if add(h); ranked && len(c.freqs) > 0 {
			add(c.lists + h)
		}
	}
	if all <= c.items.Least() {
		return bytes, true
	}
	var uses []listcache.Use
	for _, h := range lists {
		if uses = append(uses, listcache.Use{Item: h}); ranked && len(c.freqs) > 0 {
			uses = append(uses, listcache.Use{Item: c.lists + h})
		}
	}
	return bytes, c.items.Fits(uses)
}

// CacheStats says what the cache holds and did.
func (s *CachedStore) CacheStats() plan.CacheStats {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	return s.cache.items.Stats()
}

// Memory is what the store has to itself on the device.
func (s *CachedStore) Memory() uint64 { return s.store.memory.limit }

// Close waits for what is in flight and frees the device memory; callers that wait get
// plan.ErrClosed.
func (s *CachedStore) Close() error {
	if err := s.store.Close(); err != nil {
		return err
	}
	s.store.backend.unreserve(s.store.memory.limit)
	return nil
}
