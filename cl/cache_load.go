package cl

import (
	"context"
	"errors"
	"fmt"

	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// cacheLeast is enough for all scratch of a cache of few lists, in bytes.
const cacheLeast = 512 << 20

// LoadCached makes a store that takes `bytes` of device memory, or what is free where that
// is less or bytes is 0, but for what self-tests take. Scratch takes a quarter of it at
// most while rounds stay long enough, formulas three sixteenths if they can, ranking a
// quarter where src has frequencies, and lists the rest, at least an eighth.
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
	scratch := b.newStore(src, &budget{limit: bytes}, b.tuning.RoundTiles, b.tuning.Slots).slotsBytes() + b.cacheScratch(src, bytes)
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
	formulas, slots := formulaShapeFor(t, b.formulasMost(bytes))
	n := uint64(slots) * formulas.bytes()
	n += max(min(bytes/16, 4*uint64(mostFormulas.decoded)), formulaGrowth) // for one that grows
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
	s := b.newStore(src, &budget{device: b.device, limit: total}, b.tuning.RoundTiles, b.tuning.Slots)
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
